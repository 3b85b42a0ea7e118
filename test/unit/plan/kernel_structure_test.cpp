//===- kernel_structure_test.cpp - when two kernels are the same ----------===//
#include "dialects/rt/KernelStructure.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <string>

namespace mtc::rt {
namespace {

constexpr const char *kKernel =
    R"(rt.kernel @kernel0 rows 4 cols 8 args 0 [
  #rt.operand<mode = full, element = f32, extent = 0>,
  #rt.operand<mode = col, element = f32, extent = 0>,
  #rt.operand<mode = full, element = f32, extent = 0>] {
  %x = rt.load 0 : f32
  %b = rt.load 1 : f32
  %c = arith.constant 1.0 : f32
  %s = arith.addf %x, %b : f32
  %t = arith.mulf %s, %c : f32
  rt.store 2, %t : f32
}
)";

class KernelStructure : public testing::Test {
protected:
  KernelStructure() {
    context.loadDialect<RtDialect, mlir::arith::ArithDialect>();
  }

  /// The kernel with `from` replaced by `to`, at a line of its own.
  KernelOp parse(const std::string &from = "", const std::string &to = "") {
    std::string text = kKernel;
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text =
        std::string(modules.size(), '\n') + text.replace(at, from.size(), to);
    modules.push_back(mlir::parseSourceString<mlir::ModuleOp>(text, &context));
    EXPECT_TRUE(modules.back()) << text;
    return *modules.back()->getOps<KernelOp>().begin();
  }

  mlir::MLIRContext context;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
};

TEST_F(KernelStructure, NamesAndLocationsDoNotCount) {
  KernelOp one = parse();
  for (KernelOp other : {parse(), parse("@kernel0", "@other")}) {
    EXPECT_TRUE(haveSameStructure(one, other));
    EXPECT_EQ(hashStructure(one), hashStructure(other));
  }
}

TEST_F(KernelStructure, EverythingElseCounts) {
  const std::pair<const char *, const char *> changes[] = {
      {"rows 4", "rows 5"},
      {"cols 8", "cols 9"},
      {"args 0", "args 1"},
      {"mode = col", "mode = row"},
      {"extent = 0>]",
       "extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>]"},
      {"rt.load 1", "rt.load 0"},
      {"constant 1.0", "constant 2.0"},
      {"arith.addf", "arith.subf"},
      {"%x, %b", "%b, %x"}, // commutes, but for the bits of a NaN
      {"%s, %c", "%s, %x"},
      {"rt.store 2, %t", "rt.store 2, %s"},
      {"%t : f32\n}", "%t : f32\n rt.store 0, %t : f32\n}"},
  };
  KernelOp one = parse();
  for (auto [from, to] : changes)
    EXPECT_FALSE(haveSameStructure(one, parse(from, to))) << to;
}

TEST_F(KernelStructure, ASetHasOneOfEach) {
  KernelSet kernels;
  EXPECT_TRUE(kernels.insert(parse()).second);
  EXPECT_FALSE(kernels.insert(parse("@kernel0", "@other")).second);
  EXPECT_TRUE(kernels.insert(parse("%x, %b", "%b, %x")).second);
  EXPECT_EQ(kernels.size(), 2u);
}

} // namespace
} // namespace mtc::rt
