//===- gradients_test.cpp - gradient rules by finite differences ----------===//
#include "test/unit/evaluator/harness.h"
#include "test/unit/evaluator/instances.h"

#include "passes/families/family.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

namespace {

/// Central differences with this step: truncation about h^2 = 1e-10 times the
/// third derivative (of order 1 for inputs below 1.5), cancellation about
/// 2e-16·|loss|/h = 2e-11·|loss| with |loss| below 100.
constexpr double kStep = 1e-5;
/// Ten times the sum of both for |loss| = 100; a wrong rule is off by 1e-2.
constexpr double kTolerance = 3e-8;

/// A function of one op, with the op's gradient appended.
struct Differentiated {
  OwningOpRef<ModuleOp> module;
  std::vector<int> operands; ///< which operand each returned gradient is of

  explicit Differentiated(const Instance &instance);
};

/// Appends an argument for the cotangent of result 0 and returns what the
/// registered gradient builds instead of the op's results.
Differentiated::Differentiated(const Instance &instance)
    : module(parse(withSizes(instance, Sizes::odd))) {
  func::FuncOp fn = functionOf(*module);
  Operation *op = onlyOp(fn);
  Block &body = fn.getBody().front();
  SmallVector<Value> cotangents(op->getNumResults());
  cotangents[0] =
      body.addArgument(op->getResult(0).getType(), UnknownLoc::get(&context()));
  Operation *ret = body.getTerminator();
  OpBuilder b(ret);
  FailureOr<families::Values> gradients =
      cast<families::GradientOpInterface>(op).buildGradient(b, cotangents);
  EXPECT_TRUE(succeeded(gradients));
  SmallVector<Value> results;
  for (size_t i = 0; i < gradients->size(); ++i)
    if ((*gradients)[i]) {
      results.push_back((*gradients)[i]);
      operands.push_back(static_cast<int>(i));
    }
  ret->setOperands(results);
  fn.setFunctionType(b.getFunctionType(body.getArgumentTypes(),
                                       ValueRange(results).getTypes()));
}

/// Sum of cotangent·result 0.
double lossOf(func::FuncOp fn, const std::vector<eval::Tensor> &inputs,
              const eval::Tensor &cotangent) {
  auto results = eval::evaluateUnsharded(fn, inputs, stepBlock());
  double sum = 0;
  for (size_t i = 0; i < cotangent.reals.size(); ++i)
    sum += cotangent.reals[i] * (*results)[0].reals[i];
  return sum;
}

/// Differences the loss with respect to every element of argument `i`.
eval::Tensor numericGradient(func::FuncOp fn, std::vector<eval::Tensor> inputs,
                             const eval::Tensor &cotangent, int i) {
  eval::Tensor gradient = eval::Tensor::zeros(inputs[i].shape);
  for (size_t k = 0; k < gradient.reals.size(); ++k) {
    double x = inputs[i].reals[k];
    inputs[i].reals[k] = x + kStep;
    double above = lossOf(fn, inputs, cotangent);
    inputs[i].reals[k] = x - kStep;
    double below = lossOf(fn, inputs, cotangent);
    inputs[i].reals[k] = x;
    gradient.reals[k] = (above - below) / (2 * kStep);
  }
  return gradient;
}

/// Ops whose gradient is null or fails by design.
bool flowsNothing(Operation *op) {
  if (isa<tfm::StopGradientOp, tfm::ExportOp, tfm::FillOp, tfm::IotaOp,
          tfm::IndexFromOp>(op))
    return true;
  if (isa<tfm::ScaleGradientOp>(op)) // below
    return true;
  auto reduce = dyn_cast<tfm::ReduceOp>(op);
  return reduce && reduce.getKind() == tfm::ReduceKind::Max;
}

class Gradient : public testing::TestWithParam<Instance> {};

TEST_P(Gradient, EqualsCentralDifferences) {
  OwningOpRef<ModuleOp> plain = parse(withSizes(GetParam(), Sizes::odd));
  ASSERT_TRUE(plain);
  func::FuncOp fn = functionOf(*plain);
  Operation *op = onlyOp(fn);
  if (!isa<families::GradientOpInterface>(op) || flowsNothing(op))
    return;
  Differentiated rule(GetParam());
  Inputs random(7);
  std::vector<eval::Tensor> inputs = random.arguments(fn);
  eval::Tensor cotangent =
      random.reals(eval::shapeOf(op->getResult(0).getType()), -1.0, 1.0);
  std::vector<eval::Tensor> extended = inputs;
  extended.push_back(cotangent);
  auto analytic =
      eval::evaluateUnsharded(functionOf(*rule.module), extended, stepBlock());
  ASSERT_TRUE(succeeded(analytic));
  size_t reals = llvm::count_if(
      inputs, [](const eval::Tensor &x) { return !x.isInteger(); });
  EXPECT_EQ(rule.operands.size(), reals) << "every real operand has a gradient";
  for (size_t i = 0; i < rule.operands.size(); ++i) {
    int operand = rule.operands[i];
    eval::Tensor numeric = numericGradient(fn, inputs, cotangent, operand);
    EXPECT_LT(eval::difference((*analytic)[i], numeric), kTolerance)
        << "gradient of operand " << operand;
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, Gradient, testing::ValuesIn(instances()),
                         [](auto &info) { return info.param.name; });

/// Its value knows nothing of the factor, and its gradient is multiplied by it.
TEST(GradientOfScaleGradient, IsMultipliedByTheFactor) {
  auto instance = llvm::find_if(instances(), [](const Instance &i) {
    return i.name == "scale_gradient";
  });
  OwningOpRef<ModuleOp> plain = parse(withSizes(*instance, Sizes::odd));
  Inputs random(7);
  std::vector<eval::Tensor> inputs = random.arguments(functionOf(*plain));
  auto value = eval::evaluateUnsharded(functionOf(*plain), inputs, stepBlock());
  ASSERT_TRUE(succeeded(value));
  EXPECT_EQ((*value)[0].reals, inputs[0].reals);
  Differentiated rule(*instance);
  EXPECT_EQ(rule.operands, std::vector<int>{0});
  inputs.push_back(random.reals(inputs[0].shape, -1.0, 1.0));
  auto gradient =
      eval::evaluateUnsharded(functionOf(*rule.module), inputs, stepBlock());
  ASSERT_TRUE(succeeded(gradient));
  for (size_t i = 0; i < inputs[0].reals.size(); ++i)
    EXPECT_EQ((*gradient)[0].reals[i], inputs[2].reals[i] * inputs[1].reals[i]);
}

/// The comparison bites: a gradient that is off by its sign is rejected.
TEST(GradientCheck, SeesAWrongSign) {
  auto instance = llvm::find_if(
      instances(), [](const Instance &i) { return i.name == "sub"; });
  Differentiated rule(*instance);
  OwningOpRef<ModuleOp> plain = parse(withSizes(*instance, Sizes::odd));
  func::FuncOp fn = functionOf(*plain);
  Inputs random(7);
  std::vector<eval::Tensor> inputs = random.arguments(fn);
  eval::Tensor cotangent = random.reals(inputs[0].shape, -1.0, 1.0);
  eval::Tensor numeric = numericGradient(fn, inputs, cotangent, 1);
  EXPECT_GT(eval::difference(cotangent, numeric), 1e-2);
}

} // namespace
