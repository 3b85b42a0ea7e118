//===- sums_test.cpp - a sum does not depend on what is computed beside ---===//
//
// A pass with long arithmetic takes more columns at a time than another one;
// what is added in which order is the same.
//
//===----------------------------------------------------------------------===//
#include "harness.h"
#include "mtc/runtime/isa.h"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <string_view>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

namespace {

/// Sum and largest of rows of so many columns; with `beside` computed for each
/// element and stored, too.
std::string kernel(const std::string &name, int64_t cols,
                   const std::string &beside) {
  auto operand = [](const std::string &mode) {
    return "#rt.operand<mode = " + mode + ", element = f32, extent = 0>";
  };
  return "rt.kernel @" + name + " rows " + (cols < 0 ? "1" : "3") + " cols " +
         std::to_string(cols) + " args 0 [" + operand("full") + ", " +
         operand("row") + ", " + operand("row") + ", " + operand("full") +
         "] {\n  %x = rt.load 0 : f32\n  %sum = rt.row_reduce sum %x : f32\n"
         "  %most = rt.row_reduce max %x : f32\n"
         "  rt.store 1, %sum : f32\n  rt.store 2, %most : f32\n  %y = " +
         beside + " %x : f32\n  rt.store 3, %y : f32\n}\n";
}

std::vector<float> statistics(void *function, std::vector<float> &x,
                              int64_t cols) {
  std::vector<float> sums(6), y(x.size());
  call(function, {x.data(), sums.data(), sums.data() + 3, y.data()}, {cols});
  return sums;
}

} // namespace

TEST(Sums, AreTheSameBesideLongArithmetic) {
  const int64_t widths[] = {31, 32, 64, 83, 300, 1000, -1}; // -1: dynamic
  std::string text;
  for (int64_t cols : widths) {
    std::string of = std::to_string(std::abs(cols));
    text += kernel("brief" + of, cols, "math.absf");
    text += kernel("long" + of, cols, "math.tanh");
  }
  auto context = makeContext();
  auto module = parse(*context, text);
  ASSERT_TRUE(module);
  std::mt19937 rng(3);
  for (std::string_view isa : {"x86-64-v3", "x86-64-v4"}) {
    if (!runtime::processorHas(isa))
      continue;
    Library library(*module, *codegen::isaByName(isa));
    ASSERT_TRUE(library.loaded());
    for (int64_t cols : widths) {
      std::string of = std::to_string(std::abs(cols));
      int64_t width = cols < 0 ? 777 : cols;
      std::vector<float> x(size_t(3 * width));
      for (float &v : x)
        v = float(rng() % 20001) / 1000 - 10;
      EXPECT_EQ(statistics(library.find("brief" + of), x, width),
                statistics(library.find("long" + of), x, width))
          << isa << ", " << cols << " columns";
    }
  }
}
