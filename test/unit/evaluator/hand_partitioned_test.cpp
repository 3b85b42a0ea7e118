//===- hand_partitioned_test.cpp - an MLP split by hand -------------------===//
//
// The example of the dist dialect's documentation: column-parallel up, row-
// parallel down, one all-reduce forward (g) and one backward (f).
//
//===----------------------------------------------------------------------===//
#include "test/evaluator/layout.h"
#include "test/unit/evaluator/harness.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

namespace {

/// Forward and backward of y = gelu(x·up)·down with `ffn` columns; the lines
/// `afterY` and `afterDx` stand after the two contractions over ffn.
std::string mlp(const std::string &ffn, const std::string &afterY,
                const std::string &afterDx) {
  std::string x = "tensor<2x3x4xf32>", u = "tensor<2x3x" + ffn + "xf32>";
  std::string up = "tensor<4x" + ffn + "xf32>",
              down = "tensor<" + ffn + "x4xf32>";
  return "func.func @f(%x: " + x + ", %up: " + up + ", %down: " + down +
         ", %dy: " + x + ") -> (" + x + ", " + x + ", " + up + ", " + down +
         ") {\n"
         "  %u = tfm.einsum \"bse,ef->bsf\" %x, %up : " +
         x + ", " + up + " -> " + u + "\n  %v = tfm.activation gelu %u : " + u +
         "\n  %y = tfm.einsum \"bsf,fe->bse\" %v, %down : " + u + ", " + down +
         " -> " + x + "\n  " + afterY +
         "\n  %dv = tfm.einsum \"bse,fe->bsf\" %dy, %down : " + x + ", " +
         down + " -> " + u +
         "\n  %dd = tfm.einsum \"bsf,bse->fe\" %v, %dy : " + u + ", " + x +
         " -> " + down + "\n  %du = tfm.activation_grad gelu %u, %dv : " + u +
         "\n  %dx = tfm.einsum \"bsf,ef->bse\" %du, %up : " + u + ", " + up +
         " -> " + x + "\n  " + afterDx +
         "\n  %dup = tfm.einsum \"bse,bsf->ef\" %x, %du : " + x + ", " + u +
         " -> " + up + "\n  return %y2, %dx2, %dup, %dd : " + x + ", " + x +
         ", " + up + ", " + down + "\n}\n";
}

std::string reduce(const std::string &to, const std::string &from,
                   const std::string &origin) {
  return to + " = dist.all_reduce sum " + from + " over \"tp\" origin " +
         origin + " serves \"w\" : tensor<2x3x4xf32>";
}
std::string copy(const std::string &to, const std::string &from) {
  return to + " = tfm.save " + from + " : tensor<2x3x4xf32>";
}

class HandPartitioned : public testing::Test {
protected:
  void SetUp() override {
    Builder b(&context());
    mesh = dist::MeshAttr::get(&context(), {b.getStringAttr("tp")}, {2});
    auto replicated = dist::ShardingAttr::replicated;
    whole3 = replicated(&context(), 3);
    column = replicated(&context(), 2).with(mesh, "tp", 1);
    row = replicated(&context(), 2).with(mesh, "tp", 0);
  }

  /// Worst difference of any result, or the error of its reassembly.
  std::string compare(const std::string &afterY, const std::string &afterDx) {
    auto global = parse(mlp("6", copy("%y2", "%y"), copy("%dx2", "%dx")));
    auto local = parse(mlp("3", afterY, afterDx));
    eval::Mesh ranks(mesh);
    auto inputs = Inputs(9).arguments(functionOf(*global));
    std::vector<eval::Ranks> parts;
    for (auto [x, sharding] :
         llvm::zip(inputs, std::vector{whole3, column, row, whole3}))
      parts.push_back(eval::distribute(x, sharding, ranks));
    auto expected = eval::evaluateUnsharded(functionOf(*global), inputs);
    auto found = eval::evaluateFunction(functionOf(*local), ranks, parts);
    std::vector shardings{whole3, whole3, column, row};
    for (int i = 0; i < 4; ++i) {
      std::string error;
      auto whole =
          eval::reassemble(found->results[i], shardings[i], ranks, 0.0, error);
      if (failed(whole))
        return "result " + std::to_string(i) + ": " + error;
      // Sums of six products of order 1 in another order.
      if (eval::difference(*whole, (*expected)[i]) > 1e-14)
        return "result " + std::to_string(i) + " differs";
    }
    return "";
  }

  dist::MeshAttr mesh;
  dist::ShardingAttr whole3, column, row;
};

TEST_F(HandPartitioned, EqualsTheUnsplitOne) {
  EXPECT_EQ(compare(reduce("%y2", "%y", "g"), reduce("%dx2", "%dx", "f")), "");
}
TEST_F(HandPartitioned, LackingOneReductionDiffers) {
  EXPECT_NE(compare(copy("%y2", "%y"), reduce("%dx2", "%dx", "f")), "");
  EXPECT_NE(compare(reduce("%y2", "%y", "g"), copy("%dx2", "%dx")), "");
}

} // namespace
