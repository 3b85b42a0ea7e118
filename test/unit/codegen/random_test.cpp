//===- random_test.cpp - random kernels against the evaluator -------------===//
#include "harness.h"
#include "random_inputs.h"
#include "random_kernel.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

namespace {

void compare(const RandomKernel &k, size_t operand, const Buffer &expected,
             const Buffer &found) {
  for (size_t i = 0; i < expected.elements.size(); ++i) {
    Number e = expected.elements[i];
    double x = found.elements[i].f;
    // Twice the first-order bound, for the terms of second order; and the
    // smallest normal number, because e^x is flushed to 0 below it.
    double tolerance = 2 * e.error + 0x1p-126;
    ASSERT_LE(std::fabs(x - e.f), tolerance)
        << "operand " << operand << " element " << i << " of " << k.rows
        << " x " << k.cols << ": expected " << e.f << ", found " << x << "\n"
        << k.text;
  }
}

void runOne(const RandomKernel &k, rt::KernelOp kernel, void *function,
            std::mt19937 &rng) {
  size_t count = k.written.size();
  std::vector<Buffer> start;
  for (size_t i = 0; i < count; ++i) {
    auto info = cast<rt::OperandAttr>(kernel.getOperandsInfo()[i]);
    start.push_back(fill(rng, kernel, i, countOf(info, k.rows, k.cols)));
  }
  std::vector<int64_t> args = {0x123456789abcdef, 77, 259};
  std::vector<Buffer> expected = start;
  ASSERT_EQ(evaluate(kernel, expected, args, k.cols), "");
  std::vector<Memory> memory;
  std::vector<void *> pointers;
  for (size_t i = 0; i < count; ++i)
    memory.emplace_back(
        cast<rt::OperandAttr>(kernel.getOperandsInfo()[i]).getElement(),
        start[i]);
  std::vector<bool> overwritten(count);
  for (size_t i = 0; i < count; ++i) {
    int shared = k.sharesWith[i];
    if (shared >= 0)
      overwritten[shared] = true;
    pointers.push_back(memory[shared >= 0 ? shared : i].data());
  }
  if (k.dynamic)
    args.push_back(k.cols);
  call(function, pointers, args);
  for (size_t i = 0; i < count; ++i) {
    ASSERT_TRUE(memory[i].guardsIntact()) << "operand " << i << "\n" << k.text;
    if (!overwritten[i])
      compare(k, i, expected[i],
              memory[k.sharesWith[i] >= 0 ? k.sharesWith[i] : i].read());
    if (testing::Test::HasFatalFailure())
      return;
  }
}

void runMany(const std::string &isaName, unsigned seed, int kernels) {
  auto host = codegen::hostIsa();
  // Names of larger sets begin with those of the smaller ones, but for v3.
  if (!host || (isaName != "x86-64-v3" && host->name.find(isaName) != 0))
    GTEST_SKIP() << "this machine has no " << isaName;
  std::mt19937 rng(seed);
  auto context = makeContext();
  std::vector<RandomKernel> generated;
  std::string text;
  for (int i = 0; i < kernels; ++i) {
    generated.push_back(makeRandomKernel(rng, "k" + std::to_string(i)));
    text += generated.back().text;
  }
  auto module = parse(*context, text);
  ASSERT_TRUE(module);
  Library library(*module, *codegen::isaByName(isaName));
  ASSERT_TRUE(library.loaded());
  int i = 0;
  for (auto kernel : module->getOps<rt::KernelOp>()) {
    runOne(generated[i], kernel, library.find("k" + std::to_string(i)), rng);
    if (testing::Test::HasFatalFailure())
      return;
    ++i;
  }
}

} // namespace

TEST(RandomKernels, AgreeWithTheEvaluatorOnV4) { runMany("x86-64-v4", 1, 200); }
TEST(RandomKernels, AgreeWithTheEvaluatorOnV4Bf16) {
  runMany("x86-64-v4-bf16", 4, 120);
}
TEST(RandomKernels, AgreeWithTheEvaluatorOnV3) { runMany("x86-64-v3", 2, 120); }

// LLVM moves a masked load to a select by its mask, which must not stand behind
// a store to the same memory.
TEST(RandomKernels, RowsAreSummedBeforeAStoreInPlace) {
  auto context = makeContext();
  auto module = parse(*context, R"(
rt.kernel @k rows 1 cols -1 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] {
  %x = rt.load 0 : f32
  %y = rt.load 3 : f32
  %sum = rt.row_reduce sum %x : f32
  rt.store 1, %sum : f32
  rt.store 2, %y : f32
})");
  ASSERT_TRUE(module);
  Library library(*module, *codegen::isaByName("x86-64-v3"));
  ASSERT_TRUE(library.loaded());
  for (int64_t columns : {1, 3, 8, 9, 17, 40}) {
    std::vector<float> x(columns, 1.5F), y(columns, 0.25F);
    float sum = 0;
    call(library.find("k"), {x.data(), &sum, x.data(), y.data()}, {columns});
    EXPECT_EQ(sum, 1.5F * float(columns));
    EXPECT_EQ(x, y);
  }
}
