//===- harness.cpp - IR and inputs for the evaluator's tests --------------===//
#include "test/unit/evaluator/harness.h"

#include "dialects/dist/Dist.h"
#include "dialects/tfm/Tfm.h"
#include "passes/families/family.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace mtc::test {

MLIRContext &context() {
  static MLIRContext instance;
  static const bool loaded = [] {
    DialectRegistry registry;
    families::registerFamilies(registry);
    instance.appendDialectRegistry(registry);
    instance
        .loadDialect<func::FuncDialect, tfm::TfmDialect, dist::DistDialect>();
    instance.allowUnregisteredDialects(); // for attributes `in.*`
    return true;
  }();
  (void)loaded;
  return instance;
}

OwningOpRef<ModuleOp> parse(const std::string &text) {
  return parseSourceString<ModuleOp>(text, &context());
}

func::FuncOp functionOf(ModuleOp module) {
  return *module.getOps<func::FuncOp>().begin();
}

Operation *onlyOp(func::FuncOp fn) { return &fn.getBody().front().front(); }

double Inputs::uniform(double low, double high) {
  double unit = static_cast<double>(engine() >> 11) * 0x1p-53;
  return low + (high - low) * unit;
}

eval::Tensor Inputs::reals(const eval::Shape &shape, double low, double high) {
  eval::Tensor x = eval::Tensor::zeros(shape);
  for (double &v : x.reals)
    v = uniform(low, high);
  return x;
}

eval::Tensor Inputs::argument(func::FuncOp fn, unsigned i) {
  auto type = cast<RankedTensorType>(fn.getArgument(i).getType());
  eval::Shape shape = eval::shapeOf(type);
  if (!type.getElementType().isInteger())
    return fn.getArgAttr(i, "in.positive") ? reals(shape, 0.5, 1.5)
                                           : reals(shape, -1.5, 1.5);
  eval::Tensor x;
  x.shape = shape;
  auto below = fn.getArgAttrOfType<IntegerAttr>(i, "in.below");
  for (int64_t k = 0; k < eval::count(shape); ++k)
    x.ints.push_back(below ? static_cast<int64_t>(engine() % below.getInt())
                           : 41);
  return x;
}

std::vector<eval::Tensor> Inputs::arguments(func::FuncOp fn) {
  std::vector<eval::Tensor> all;
  for (unsigned i = 0; i < fn.getNumArguments(); ++i)
    all.push_back(argument(fn, i));
  return all;
}

eval::StepBlock stepBlock() {
  eval::StepBlock step;
  step.seed = 0x1234567890abcdefULL;
  step.fields = {
      {"lr", 0.01},        {"weight_decay", 0.1},    {"beta1", 0.9},
      {"beta2", 0.95},     {"one_minus_beta1", 0.1}, {"one_minus_beta2", 0.05},
      {"eps", 1e-3},       {"inv_bias1", 10.0},      {"inv_bias2", 20.0},
      {"clip_coeff", 0.7}, {"momentum", 0.9}};
  return step;
}

} // namespace mtc::test
