//===- random_clusters_test.cpp - tfm ops through kernels and LLVM -------===//
//
// Random functions of tfm ops go through form-clusters to lower-calls as
// fragments; what comes out is compiled, its launches are called one by one,
// and what leaves the fragment is compared with the evaluator of tfm on the
// same ops.
//
//===----------------------------------------------------------------------===//
#include "fragments.h"
#include "harness.h"
#include "on_team.h"
#include "random_function.h"

#include "dialects/pipe/Pipe.h"
#include "dialects/tfm/Tfm.h"
#include "passes/codegen/cpu_team.h"
#include "test/evaluator/evaluate.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseMap.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

namespace {

constexpr int64_t kSample = 77, kSeed = 0x123456789abcdef;

std::string print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream(text) << *op;
  return text;
}

Buffer bufferOf(const eval::Tensor &tensor) {
  Buffer out;
  for (double x : tensor.reals)
    out.elements.push_back(asFloat(x));
  for (int64_t x : tensor.ints)
    out.elements.push_back({0, static_cast<uint64_t>(x), 0});
  return out;
}

/// Runs one fragment after lower-calls, whose kernels are those of the library,
/// for so many threads.
class FragmentRun {
public:
  explicit FragmentRun(const Library &library, ModuleOp kernels = {},
                       int64_t threads = 1)
      : library(library), kernels(kernels), threads(threads) {}

  /// Outputs by index; empty after a failed expectation.
  std::map<int64_t, Buffer>
  run(func::FuncOp fragment, const std::vector<eval::Tensor> &inputs,
      const std::map<int64_t, eval::Tensor> &accumulators) {
    std::map<int64_t, Buffer> out;
    std::map<int64_t, Value> places;
    for (Operation &op : fragment.getBody().front()) {
      if (auto kept = dyn_cast<pipe::SavedOp>(op)) {
        allocate(kept.getResult(), bufferOf(inputs[kept.getKey()]));
      } else if (auto ref = dyn_cast<rt::RefOp>(op)) {
        int64_t at = 0; // the number behind the name
        EXPECT_FALSE(
            ref.getParam().value_or("").rsplit('.').second.getAsInteger(10,
                                                                        at));
        EXPECT_TRUE(places.try_emplace(at, ref.getResult()).second)
            << "two refs of one place";
        allocate(ref.getResult(), bufferOf(accumulators.at(at)));
      } else if (isa<tensor::EmptyOp>(op)) {
        continue; // it has no memory
      } else if (auto zero = dyn_cast<rt::ZeroOp>(op)) {
        allocate(zero.getResult(), filled(zero.getResult(), 0));
      } else if (auto affine = dyn_cast<rt::AffineOp>(op)) {
        scalars[affine.getResult()] = affine.getValue().constant +
                                      affine.getValue()[rt::kSample] * kSample +
                                      affine.getValue()[rt::kSeed] * kSeed;
      } else if (auto launch = dyn_cast<rt::LaunchOp>(op)) {
        runLaunch(launch);
      } else if (auto keep = dyn_cast<pipe::SaveOp>(op)) {
        out[keep.getKey()] = memory.at(keep.getValue())->read();
      } else if (!isa<func::ReturnOp>(op)) {
        ADD_FAILURE() << "expected launches only, found " << print(&op);
        return {};
      }
    }
    for (auto &[at, ref] : places)
      out[at] = memory.at(ref)->read();
    for (auto &[value, bytes] : memory)
      EXPECT_TRUE(bytes->guardsIntact())
          << "a write outside of " << print(value.getDefiningOp());
    return out;
  }

private:
  static Buffer filled(Value value, double x) {
    Buffer out;
    out.elements.resize(cast<ShapedType>(value.getType()).getNumElements(),
                        {x, 0, 0});
    return out;
  }
  void allocate(Value value, const Buffer &initial) {
    Type element = cast<ShapedType>(value.getType()).getElementType();
    memory[value] = std::make_unique<Memory>(element, initial);
  }

  /// What is written into a tensor is a result: in memory that holds NaN
  /// before, or in that of the tensor if it holds a value.
  void *memoryOf(rt::LaunchOp launch, OpOperand &operand) {
    Value value = operand.get();
    if (!isa<TensorType>(value.getType()) || !launch.isDpsInit(&operand))
      return memory.at(value)->data();
    Value made = launch.getTiedOpResult(&operand);
    if (auto it = memory.find(value); it != memory.end()) {
      std::unique_ptr<Memory> taken = std::move(it->second);
      memory.erase(it);
      memory[made] = std::move(taken);
    } else {
      allocate(made, filled(made, NAN));
    }
    return memory.at(made)->data();
  }

  void runLaunch(rt::LaunchOp launch) {
    std::vector<void *> operands;
    for (OpOperand *operand : launch.getKernelOperands())
      operands.push_back(memoryOf(launch, *operand));
    std::vector<int64_t> args;
    for (Value scalar : launch.getScalars())
      args.push_back(scalars.at(scalar));
    void *function = library.find(launch.getKernel().str());
    if (threads == 1)
      return call(function, operands, args);
    auto kernel = kernels.lookupSymbol<rt::KernelOp>(launch.getKernel());
    callOnTeam(function, operands, args,
               codegen::teamWorkspace(kernel, threads), threads);
  }

  const Library &library;
  ModuleOp kernels;
  int64_t threads;
  llvm::DenseMap<Value, std::unique_ptr<Memory>> memory;
  llvm::DenseMap<Value, int64_t> scalars;
};

eval::Tensor randomTensor(std::mt19937 &rng, Type type, int64_t limit) {
  eval::Tensor x;
  x.shape = eval::shapeOf(type);
  for (int64_t i = 0; i < eval::count(x.shape); ++i)
    if (limit)
      x.ints.push_back(rng() % limit);
    else
      x.reals.push_back(static_cast<float>(double(rng() % 2001) / 1000 - 1));
  return x;
}

void runOne(const RandomFunction &f, func::FuncOp function,
            func::FuncOp fragment, FragmentRun run, std::mt19937 &rng) {
  std::vector<eval::Tensor> inputs;
  for (size_t i = 0; i < f.inputs.size(); ++i)
    inputs.push_back(
        randomTensor(rng, function.getArgumentTypes()[i], f.inputs[i].limit));
  std::map<int64_t, eval::Tensor> accumulators;
  for (size_t i = 0; i < f.outputs.size(); ++i)
    if (f.outputs[i].accumulated)
      accumulators[i] = randomTensor(rng, function.getResultTypes()[i], 0);
  auto found = run.run(fragment, inputs, accumulators);
  inputs.push_back(eval::Tensor::scalar(kSample));
  auto expected =
      eval::evaluateUnsharded(function, inputs, {uint64_t(kSeed), {}});
  ASSERT_TRUE(succeeded(expected));
  for (size_t i = 0; i < f.outputs.size(); ++i) {
    const Buffer &result = found[i];
    ASSERT_EQ(result.elements.size(), (*expected)[i].reals.size());
    // Twice the first-order bound, for the terms of second order.
    double tolerance = 2 * f.outputs[i].error + 0x1p-126;
    for (size_t j = 0; j < result.elements.size(); ++j) {
      double exact = (*expected)[i].reals[j] +
                     (f.outputs[i].accumulated ? accumulators[i].reals[j] : 0);
      double difference = std::fabs(result.elements[j].f - exact);
      ASSERT_LE(difference, tolerance)
          << "result " << i << " element " << j << ": expected " << exact
          << ", found " << result.elements[j].f << "\n"
          << print(function) << "\n"
          << print(fragment);
    }
  }
}

/// Kernels of one op each would prove nothing of clusters, and kernels in f32
/// nothing of bf16: of 898, 428 hold more ops and 148 have bf16 outside.
void expectClusters(rt::ProgramOp program) {
  int64_t launches = 0, fused = 0, narrow = 0;
  program.walk([&](rt::LaunchOp launch) {
    ++launches;
    auto from = launch->getAttrOfType<StringAttr>("from");
    fused += from && from.getValue().contains('+');
    auto isNarrow = [](Type t) { return getElementTypeOrSelf(t).isBF16(); };
    narrow += llvm::any_of(launch->getOperandTypes(), isNarrow) ||
              llvm::any_of(launch->getResultTypes(), isNarrow);
  });
  EXPECT_GT(10 * narrow, launches) << narrow << " of " << launches;
  EXPECT_GT(3 * fused, launches) << fused << " of " << launches;
}

func::FuncOp fragmentOf(rt::ProgramOp program, const std::string &name) {
  return cast<func::FuncOp>(
      SymbolTable::lookupSymbolIn(program, name + "_fragment"));
}

void runMany(unsigned seed, int count, int64_t threads) {
  auto host = codegen::hostIsa();
  ASSERT_TRUE(static_cast<bool>(host));
  std::mt19937 rng(seed);
  std::vector<RandomFunction> functions;
  for (int i = 0; i < count; ++i)
    functions.push_back(makeRandomFunction(rng, "f" + std::to_string(i)));
  auto context = makeContext();
  auto module = lowerFragments(*context, functions);
  ASSERT_TRUE(module);
  auto program = *module->getOps<rt::ProgramOp>().begin();
  expectClusters(program);
  auto kernels = kernelsOf(program);
  Library library(*kernels, *host, threads);
  ASSERT_TRUE(library.loaded());
  for (int i = 0; i < count; ++i) {
    std::string name = "f" + std::to_string(i);
    runOne(functions[i], module->lookupSymbol<func::FuncOp>(name),
           fragmentOf(program, name), FragmentRun(library, *kernels, threads),
           rng);
    if (testing::Test::HasFailure())
      return;
  }
}

} // namespace

TEST(RandomClusters, AgreeWithTheEvaluatorAtOneTwoAndThreeThreads) {
  for (int64_t threads : {1, 2, 3}) {
    SCOPED_TRACE(testing::Message() << threads << " threads");
    runMany(3, 120, threads);
  }
}

// Far below 0 an activation is 0 and flat, whatever its polynomial comes to.
TEST(Activations, AreFlatFarBelowZero) {
  for (std::string kind : {"gelu", "silu"}) {
    RandomFunction f;
    f.fragment = "func.func @f_fragment() attributes {pipe.fragment = "
                 "#pipe.fragment<stage = 0, chunk = 0, phase = backward>} {\n"
                 "  %x = pipe.saved 0 : tensor<2x3xf32>\n"
                 "  %dy = pipe.saved 1 : tensor<2x3xf32>\n"
                 "  %y = tfm.activation " +
                 kind +
                 " %x : tensor<2x3xf32>\n"
                 "  %dx = tfm.activation_grad " +
                 kind +
                 " %x, %dy : tensor<2x3xf32>\n"
                 "  pipe.save %y as 0 : tensor<2x3xf32>\n"
                 "  pipe.save %dx as 1 : tensor<2x3xf32>\n  return\n}\n";
    auto host = codegen::hostIsa();
    ASSERT_TRUE(static_cast<bool>(host));
    auto context = makeContext();
    auto module = lowerFragments(*context, {f});
    ASSERT_TRUE(module);
    auto program = *module->getOps<rt::ProgramOp>().begin();
    auto kernels = kernelsOf(program);
    Library library(*kernels, *host);
    ASSERT_TRUE(library.loaded());
    eval::Tensor x, dy;
    x.shape = dy.shape = {2, 3};
    x.reals = {-1e3, -1e6, -1e9, -1.3e13, -1e16, -1e18};
    dy.reals = {1, 1, 1, 1, 1, 1};
    auto found =
        FragmentRun(library).run(fragmentOf(program, "f"), {x, dy}, {});
    for (int64_t result : {0, 1})
      for (const Number &n : found.at(result).elements)
        EXPECT_EQ(n.f, 0) << kind << ", result " << result;
  }
}
