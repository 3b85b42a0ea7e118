//===- evaluator_test.cpp - the evaluator against hand-worked answers -----===//
#include "test/evaluator/layout.h"
#include "test/evaluator/ops.h"
#include "test/unit/evaluator/harness.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;
using eval::Ranks;
using eval::Tensor;

namespace {

Tensor vector(std::vector<double> values) {
  Tensor x;
  x.shape = {static_cast<int64_t>(values.size())};
  x.reals = std::move(values);
  return x;
}

/// One argument and one result of the types given, on dp 2 x tp 2: rank r
/// holds `arguments[r]`.
std::vector<std::vector<double>>
onFour(const std::string &op, const std::string &in, const std::string &out,
       const std::vector<std::vector<double>> &arguments) {
  auto module = parse("func.func @f(%x: " + in + ") -> " + out +
                      " {\n  %r = " + op + "\n  return %r : " + out + "\n}\n");
  Ranks ranks;
  for (const auto &values : arguments)
    ranks.push_back(vector(values));
  auto outcome = eval::evaluateFunction(
      functionOf(*module), eval::Mesh({"dp", "tp"}, {2, 2}), {ranks});
  std::vector<std::vector<double>> results;
  for (const Tensor &x : outcome->results[0])
    results.push_back(x.reals);
  return results;
}

using Table = std::vector<std::vector<double>>;
const std::string two = "tensor<2xf32>", one = "tensor<1xf32>",
                  four = "tensor<4xf32>";

TEST(Collectives, AllReduceMixesTheGroupOnly) {
  Table in = {{1, 2}, {30, 40}, {500, 600}, {7000, 8000}};
  EXPECT_EQ(onFour("dist.all_reduce sum %x over \"tp\" origin g serves \"w\" "
                   ": tensor<2xf32>",
                   two, two, in),
            (Table{{31, 42}, {31, 42}, {7500, 8600}, {7500, 8600}}));
  EXPECT_EQ(onFour("dist.all_reduce max %x over \"dp\" origin loss serves "
                   "\"w\" : tensor<2xf32>",
                   two, two, in),
            (Table{{500, 600}, {7000, 8000}, {500, 600}, {7000, 8000}}));
}

TEST(Collectives, ReduceScatterGatherAndSlice) {
  Table in = {{1, 2}, {30, 40}, {500, 600}, {7000, 8000}};
  EXPECT_EQ(onFour("dist.reduce_scatter %x dim 0 over \"tp\" origin sp serves "
                   "\"w\" : tensor<2xf32> -> tensor<1xf32>",
                   two, one, in),
            (Table{{31}, {42}, {7500}, {8600}}));
  EXPECT_EQ(onFour("dist.all_gather %x dim 0 over \"dp\" origin sp serves "
                   "\"w\" : tensor<2xf32> -> tensor<4xf32>",
                   two, four, in),
            (Table{{1, 2, 500, 600},
                   {30, 40, 7000, 8000},
                   {1, 2, 500, 600},
                   {30, 40, 7000, 8000}}));
  EXPECT_EQ(onFour("dist.slice %x dim 0 over \"dp\" : tensor<2xf32> -> "
                   "tensor<1xf32>",
                   two, one, in),
            (Table{{1}, {30}, {600}, {8000}}));
}

TEST(Evaluator, RejectsWrongShapesAndReshardsOnSeveralRanks) {
  ScopedDiagnosticHandler quiet(&context(),
                                [](Diagnostic &) { return success(); });
  auto module = parse("func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                      "  %r = dist.reshard %x from <[{\"tp\"} ]> to <[{} ]> "
                      "origin g serves \"w\" : tensor<2xf32>\n"
                      "  return %r : tensor<2xf32>\n}\n");
  ASSERT_TRUE(module);
  func::FuncOp fn = functionOf(*module);
  eval::Mesh pair({"tp"}, {2});
  Tensor x = vector({1, 2});
  EXPECT_TRUE(succeeded(eval::evaluateUnsharded(fn, {x})));
  EXPECT_TRUE(failed(eval::evaluateFunction(fn, pair, {{x, x}})));
  EXPECT_TRUE(failed(eval::evaluateUnsharded(fn, {vector({1, 2, 3})})));
  EXPECT_TRUE(failed(eval::evaluateFunction(fn, pair, {{x}})));
}

TEST(Evaluator, FusedAttentionOfOneQueryByHand) {
  // One position sees itself only: out = v, lse = q·k·scale.
  auto module = parse(
      "func.func @f(%q: tensor<1x1x1x3x2xf32>, %s: tensor<i64>) -> "
      "(tensor<1x1x1x2xf32>, tensor<1x1x1xf32>) {\n"
      "  %o, %l = tfm.attention %q at %s {causal = true, scale = 0.5, rate = "
      "0.0, rng_layer = 1 : i64, site = 1 : i64, global_heads = 1 : i64} : "
      "(tensor<1x1x1x3x2xf32>), tensor<i64> -> tensor<1x1x1x2xf32>, "
      "tensor<1x1x1xf32>\n"
      "  return %o, %l : tensor<1x1x1x2xf32>, tensor<1x1x1xf32>\n}\n");
  Tensor qkv = Tensor::zeros({1, 1, 1, 3, 2});
  qkv.reals = {1, 2, 3, 4, 5, 6};
  auto results =
      eval::evaluateUnsharded(functionOf(*module), {qkv, Tensor::scalar(0)});
  EXPECT_EQ((*results)[0].reals, (std::vector<double>{5, 6}));
  EXPECT_EQ((*results)[1].reals, (std::vector<double>{0.5 * (1 * 3 + 2 * 4)}));
}

TEST(Evaluator, DropoutKeepsAboutOneMinusRateAndScales) {
  int kept = 0;
  for (int i = 0; i < 4000; ++i) {
    double factor = eval::keepFactor(1, i / 1000, 1, 2, i % 1000, 0.25);
    EXPECT_TRUE(factor == 0 || factor == float(1 / 0.75));
    kept += factor != 0;
  }
  // 3000 expected, deviation sqrt(4000·0.25·0.75) = 27; five of them.
  EXPECT_NEAR(kept, 3000, 140);
}

TEST(Layout, DistributesAndReassembles) {
  MLIRContext *c = &context();
  Builder b(c);
  auto mesh = dist::MeshAttr::get(
      c, {b.getStringAttr("dp"), b.getStringAttr("tp")}, {2, 2});
  eval::Mesh ranks(mesh);
  Inputs random(1);
  Tensor x = random.reals({4, 8}, -1, 1);
  std::string error;
  for (auto [dp, tp] :
       {std::pair<int64_t, int64_t>{0, 1}, {1, 1}, {-1, 0}, {1, 0}, {-1, -1}}) {
    auto sharding = dist::ShardingAttr::replicated(c, 2);
    sharding = sharding.with(mesh, "dp", dp).with(mesh, "tp", tp);
    Ranks parts = eval::distribute(x, sharding, ranks);
    auto local = sharding.localShape({4, 8}, mesh);
    EXPECT_EQ(parts[0].shape, eval::Shape(local.begin(), local.end()));
    auto whole = eval::reassemble(parts, sharding, ranks, 0.0, error);
    ASSERT_TRUE(succeeded(whole)) << error;
    EXPECT_EQ(whole->reals, x.reals);
  }
}

TEST(Layout, AddsPartialSumsAndRejectsCopiesThatDiffer) {
  MLIRContext *c = &context();
  Builder b(c);
  auto mesh = dist::MeshAttr::get(
      c, {b.getStringAttr("dp"), b.getStringAttr("tp")}, {2, 2});
  eval::Mesh ranks(mesh);
  auto partial = dist::ShardingAttr::replicated(c, 1).with(
      mesh, "dp", dist::ShardingAttr::kPartial);
  std::string error;
  Ranks good = {vector({1}), vector({1}), vector({2}), vector({2})};
  auto sum = eval::reassemble(good, partial, ranks, 0.0, error);
  ASSERT_TRUE(succeeded(sum));
  EXPECT_EQ(sum->reals, std::vector<double>{3});
  Ranks bad = {vector({1}), vector({1}), vector({2}), vector({4})};
  EXPECT_TRUE(failed(eval::reassemble(bad, partial, ranks, 0.0, error)));
  EXPECT_EQ(error, "copies differ along axis tp");
}

} // namespace
