//===- model_cost_test.cpp - costs of layers against closed forms ---------===//

#include "compiler/model_cost.h"

#include "models/import/import.h"
#include "models/resolve.h"

#include <gtest/gtest.h>

namespace mtc::compiler {
namespace {

using models::Recompute;
using Policy = Recompute::Policy;

constexpr int64_t layers = 3, hidden = 8, ffn = 12, vocab = 16, seq = 4;

models::ModelSpec smallSpec() {
  models::ModelSpec spec;
  spec.name = "small";
  spec.vocab = spec.paddedVocab = vocab;
  spec.layers = layers;
  spec.hidden = hidden;
  spec.heads = spec.kvHeads = 4;
  spec.headDim = hidden / 4;
  spec.ffn = ffn;
  spec.maxSeq = seq;
  return spec;
}

/// In two stages of two replicas with two samples a microbatch.
models::ModelCost costWith(const models::ModelSpec &spec,
                           const Recompute &recompute, bool isBalanced) {
  models::Strategy strategy;
  strategy.mesh[MTC_AXIS_DP] = strategy.mesh[MTC_AXIS_PP] = 2;
  strategy.schedule = "1f1b";
  strategy.microBatchSize = 2;
  strategy.globalBatchSize = 8;
  strategy.balancedStages = isBalanced;
  strategy.layersPerStage =
      isBalanced ? std::vector<int64_t>() : std::vector<int64_t>{1, 2};
  strategy.recompute = recompute;
  auto context = makeContext();
  DiagnosticLog log(*context);
  strategy = models::resolve(spec, strategy);
  auto module = models::importModel(*context, spec, strategy);
  models::ModelCost cost;
  runtime::Status status = costOf(*module, spec, strategy, log, cost);
  EXPECT_TRUE(status.ok()) << status.message();
  return cost;
}

/// Of a product of all tokens of a microbatch.
constexpr int64_t product(int64_t rows, int64_t cols) {
  return 2 * (2 * 2 * seq) * rows * cols;
}

/// Two products of each pair of tokens in the forward.
constexpr int64_t attention = 2 * product(hidden, seq);
constexpr int64_t qkv = product(hidden, 3 * hidden),
                  out = product(hidden, hidden), up = product(hidden, ffn),
                  down = product(ffn, hidden), head = product(hidden, vocab);

struct Case {
  Recompute recompute;
  int64_t again = 0; ///< of a layer
};

void expectCosts(bool isCausal) {
  models::ModelSpec spec = smallSpec();
  spec.attention.causal = isCausal;
  int64_t scores = isCausal ? attention / 2 : attention;
  // Each product has two gradients, attention five products for its two.
  int64_t once = 3 * (qkv + out + up + down) + scores / 2 * 7;
  // What the last product of a layer makes is read by no gradient of the layer.
  int64_t whole = qkv + scores + out + up;
  for (const Case &c : {Case{{Policy::none}, 0},
                        {{Policy::selective}, scores},
                        {{Policy::full}, whole},
                        {{Policy::ops, 0, {"einsum"}}, up},
                        {{Policy::ops, 0, {"attention", "norm"}}, scores},
                        {{Policy::layers, 1}, 0},
                        {{Policy::microbatches, 0, {}, 1}, 0},
                        {{Policy::fit}, 0}})
    for (bool isBalanced : {true, false}) {
      SCOPED_TRACE(toString(c.recompute));
      models::ModelCost cost = costWith(spec, c.recompute, isBalanced);
      EXPECT_EQ(cost.before, 0);
      EXPECT_EQ(cost.layers, std::vector<int64_t>(layers, once + c.again));
      EXPECT_EQ(cost.behind, 3 * head);
    }
}

TEST(ModelCost, IsThatOfClosedForms) {
  expectCosts(/*isCausal=*/false);
  expectCosts(/*isCausal=*/true);
}

} // namespace
} // namespace mtc::compiler
