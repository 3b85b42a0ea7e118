//===- validate_test.cpp - strategies that do not fit ---------------------===//

#include "models/validate.h"
#include "support.h"

using namespace mtc::models;
using test::loadSpec;

namespace {
struct Misfit {
  const char *spec;
  std::vector<StrategyOption> options; ///< over global_batch_size = 16
  const char *rendered;
};
} // namespace

static const Misfit misfits[] = {
    {"gpt2-nano", {}, ""},
    {"gpt2-nano", {{"tp", "4"}, {"pp", "4"}, {"dp", "16"}}, ""},
    // Every broken rule of tp names values that satisfy all of them.
    {"gpt2-124m",
     {{"tp", "5"}},
     "expected heads % tp == 0, found heads = 12, tp = 5; nearest: tp = 4 or "
     "6\n"
     "expected ffn % tp == 0, found ffn = 3072, tp = 5; nearest: tp = 4 or 6\n"
     "expected padded_vocab % tp == 0, found padded_vocab = 50304, tp = 5; "
     "nearest: tp = 4 or 6\n"},
    {"gpt2-1558m",
     {{"tp", "2"}},
     "expected heads % tp == 0, found heads = 25, tp = 2; nearest: tp = 1\n"},
    {"gpt2-nano",
     {{"tp", "8"}},
     "expected heads % tp == 0, found heads = 4, tp = 8; nearest: tp = 4\n"},
    // Ranks share key heads, and heads alone set a rule.
    {"gpt2-nano-gqa", {{"tp", "8"}}, ""},
    {"gpt2-nano-gqa",
     {{"tp", "16"}},
     "expected heads % tp == 0, found heads = 8, tp = 16; nearest: tp = 8\n"},
    {"gpt2-nano-gqa",
     {{"tp", "4"}, {"shard.heads", "none"}},
     "expected kv_heads % tp == 0, found kv_heads = 2, tp = 4; nearest: tp = "
     "2\n"},
    // A dimension that is not split sets no rule.
    {"gpt2-nano",
     {{"tp", "8"}, {"shard.heads", "none"}, {"shard.kv-heads", "none"}},
     ""},
    {"gpt2-nano", {{"shard.kv-heads", "none"}}, ""},
    // A dimension that no default splits.
    {"gpt2-nano",
     {{"tp", "3"},
      {"shard.heads", "none"},
      {"shard.kv-heads", "none"},
      {"shard.ffn", "none"},
      {"shard.vocab", "none"},
      {"shard.head-dim", "tp"}},
     "expected head_dim % tp == 0, found head_dim = 16, tp = 3; nearest: tp = "
     "2 or 4\n"},
    {"gpt2-nano",
     {{"pp", "4"}, {"first-stage-layers", "2"}},
     "expected a layer for each stage between the ends, and a stage for each "
     "layer, found layers = 4, pp = 4, 2 of them given to the ends; nearest: "
     "pp = 3, or first_stage_layers = 1\n"},
    {"gpt2-nano",
     {{"pp", "2"},
      {"layers-per-stage", "balanced"},
      {"first-stage-layers", "9"}},
     "expected a layer for each stage between the ends, and a stage for each "
     "layer, found layers = 4, pp = 2, 9 of them given to the ends; nearest: "
     "first_stage_layers = 4\n"},
    {"gpt2-nano",
     {{"pp", "7"}, {"layers-per-stage", "balanced"}},
     "expected a layer for each stage between the ends, and a stage for each "
     "layer, found layers = 4, pp = 7, 0 of them given to the ends; nearest: "
     "pp = 6\n"},
    {"gpt2-nano",
     {{"pp", "3"}, {"last-stage-layers", "1"}},
     "expected (layers - first_stage_layers - last_stage_layers) % the other "
     "stages == 0, found 3 layers for 2 stages; nearest: pp = 2 or 4, or "
     "last_stage_layers = 0 or 2, or layers_per_stage = balanced\n"},
    {"gpt2-nano", {{"pp", "3"}, {"last-stage-layers", "0"}}, ""},
    // Tags of transfers know no more stages.
    {"gpt2-nano",
     {{"pp", "2048"}},
     "expected pp <= 1024, found pp = 2048; nearest: pp = 1024\n"
     "expected layers >= pp, found layers = 4, pp = 2048; nearest: pp = 4\n"},
    {"gpt2-nano",
     {{"pp", "64"}, {"chunks", "32"}},
     "expected pp * chunks <= 1024, found pp = 64, chunks = 32; nearest: pp = "
     "32, or chunks = 16\n"
     "expected layers >= pp * chunks, found layers = 4, pp = 64, chunks = 32; "
     "nearest: pp = 1, or chunks = 1\n"},
    {"gpt2-nano", {{"pp", "3"}, {"layers-per-stage", "balanced"}}, ""},
    {"gpt2-nano",
     {{"pp", "2"}, {"layers-per-stage", "2,2"}, {"first-stage-layers", "2"}},
     "expected first_stage_layers and last_stage_layers, or a list, found "
     "layers_per_stage, a list, and one of them; nearest: layers_per_stage "
     "alone\n"},
    {"gpt2-nano",
     {{"pp", "2"}, {"chunks", "2"}, {"first-stage-layers", "1"}},
     "expected chunks == 1 with first_stage_layers or last_stage_layers, found "
     "chunks = 2; nearest: layers_per_stage, as a list or balanced\n"},
    {"gpt2-nano",
     {{"tp", "2"}, {"pp", "2"}, {"ranks-per-host", "3"}},
     "expected ranks % ranks_per_host == 0, found ranks = 4 (tp 2, cp 1, dp 1, "
     "pp 2), ranks_per_host = 3; nearest: ranks_per_host = 2 or 4\n"},
    {"gpt2-nano", {{"tp", "2"}, {"ranks-per-host", "8"}}, ""},
    {"gpt2-nano",
     {{"comm-thread", "true"}, {"target", "cuda:sm_90"}},
     "expected target = cpu with comm_thread, found target = cuda:sm_90; "
     "nearest: comm_thread = false or target = cpu\n"},
    {"gpt2-nano",
     {{"dp", "3"}, {"micro-batch-size", "2"}},
     "expected global_batch_size % (micro_batch_size * dp) == 0, found "
     "global_batch_size = 16, micro_batch_size = 2, dp = 3; nearest: "
     "global_batch_size = 12 or 18\n"},
    {"gpt2-nano",
     {{"dp", "2"}, {"micro-batch-size", "3"}},
     "expected global_batch_size % (micro_batch_size * dp) == 0, found "
     "global_batch_size = 16, micro_batch_size = 3, dp = 2; nearest: "
     "global_batch_size = 12 or 18, or micro_batch_size = 2 or 4\n"},
    {"gpt2-nano",
     {{"cp", "4"}, {"tp", "2"}, {"sequence-parallel", "true"}},
     ""},
    {"gpt2-nano", {{"cp", "3"}, {"seq-length", "24"}}, ""},
    // No length that another rule forbids: max_seq is 32.
    {"gpt2-nano",
     {{"cp", "3"}, {"seq-length", "33"}},
     "expected seq_length <= max_seq, found seq_length = 33, max_seq = 32; "
     "nearest: seq_length = 32\n"
     "expected seq_length % (2 * cp) == 0, found seq_length = 33, cp = 3; "
     "nearest: seq_length = 30\n"},
    {"gpt2-nano",
     {{"cp", "32"}},
     "expected seq_length % (2 * cp) == 0, found seq_length = 32, cp = 32; "
     "nearest: cp = 16, as no seq_length up to max_seq = 32 does\n"},
    {"gpt2-nano",
     {{"cp", "32"}, {"seq-length", "12,24"}},
     "expected seq_length % (2 * cp) == 0, found seq_length = 12, cp = 32; "
     "nearest: cp = 6, as no seq_length up to max_seq = 32 does\n"
     "expected seq_length % (2 * cp) == 0, found seq_length = 24, cp = 32; "
     "nearest: cp = 6, as no seq_length up to max_seq = 32 does\n"},
    {"gpt2-nano",
     {{"cp", "16"}, {"tp", "4"}, {"sequence-parallel", "true"}},
     "expected seq_length % (cp * tp) == 0 with sequence_parallel, found "
     "seq_length = 32, cp = 16, tp = 4; nearest: cp = 8, as no seq_length up "
     "to max_seq = 32 does\n"},
    {"gpt2-nano",
     {{"cp", "3"}},
     "expected seq_length % (2 * cp) == 0, found seq_length = 32, cp = 3; "
     "nearest: seq_length = 30\n"},
    {"gpt2-nano",
     {{"cp", "2"},
      {"tp", "4"},
      {"sequence-parallel", "true"},
      {"seq-length", "20"}},
     "expected seq_length % (cp * tp) == 0 with sequence_parallel, found "
     "seq_length = 20, cp = 2, tp = 4; nearest: seq_length = 16 or 24\n"},
    {"gpt2-nano",
     {{"pp", "5"}},
     "expected layers >= pp, found layers = 4, pp = 5; nearest: pp = 4\n"},
    {"gpt2-nano",
     {{"pp", "3"}},
     "expected layers % pp == 0 without layers_per_stage, found layers = 4, pp "
     "= 3; nearest: pp = 2 or 4, or layers_per_stage = [2, 1, 1]\n"},
    {"gpt2-nano", {{"pp", "3"}, {"layers-per-stage", "1,2,1"}}, ""},
    {"gpt2-nano",
     {{"pp", "2"}, {"layers-per-stage", "2,3"}},
     "expected the sum of layers_per_stage == layers, found a sum of 5, layers "
     "= 4; nearest: layers_per_stage = [2, 2]\n"},
    {"gpt2-nano",
     {{"pp", "2"}, {"layers-per-stage", "2,1,1"}},
     "expected layers_per_stage has pp entries, found 3 entries, pp = 2; "
     "nearest: pp = 3, or layers_per_stage = [2, 2]\n"},
    {"gpt2-nano", {{"pp", "3"}, {"layers-per-stage", "0,4,0"}}, ""},
    {"gpt2-nano",
     {{"pp", "4"}, {"layers-per-stage", "2,0,0,2"}},
     "expected layers_per_stage[i] >= 1 but for the first and the last, found "
     "0 "
     "layers for i = 1, 2; nearest: layers_per_stage[i] = 1\n"},
    {"gpt2-nano",
     {{"pp", "2"}, {"chunks", "2"}, {"global-batch-size", "50001"}},
     "expected at most 50000 microbatches a step with 2 chunks (a plan has "
     "rows "
     "for each of them), found 50001: global_batch_size / (micro_batch_size * "
     "dp); nearest: micro_batch_size = 2\n"},
    {"gpt2-nano", {{"pp", "2"}, {"chunks", "2"}}, ""},
    {"gpt2-nano",
     {{"pp", "2"}, {"chunks", "3"}},
     "expected layers >= pp * chunks, found layers = 4, pp = 2, chunks = 3; "
     "nearest: pp = 1, or chunks = 2\n"},
    {"gpt2-nano",
     {{"chunks", "3"}},
     "expected layers % (pp * chunks) == 0 without layers_per_stage, found "
     "layers = 4, pp = 1, chunks = 3; nearest: chunks = 2 or 4, or "
     "layers_per_stage = [2, 1, 1]\n"},
    {"gpt2-nano",
     {{"pp", "2"}, {"chunks", "2"}, {"layers-per-stage", "2,1,1"}},
     "expected layers_per_stage has pp * chunks entries, found 3 entries, pp = "
     "2, chunks = 2; nearest: layers_per_stage = [1, 1, 1, 1]\n"},
    {"gpt2-nano",
     {{"pp", "2"}, {"chunks", "3"}, {"layers-per-stage", "0,1,1,0,2,0"}},
     "expected layers_per_stage[i] >= 1 but for the first and the last, found "
     "0 "
     "layers for i = 3; nearest: layers_per_stage[i] = 1\n"},
    {"gpt2-nano",
     {{"seq-length", "33"}},
     "expected seq_length <= max_seq, found seq_length = 33, max_seq = 32; "
     "nearest: seq_length = 32\n"},
    {"gpt2-nano", {{"pp", "2"}, {"recompute", "layers=2"}}, ""},
    {"gpt2-nano",
     {{"pp", "2"}, {"recompute", "layers=3"}},
     "expected recompute = layers=N with no more layers than a stage has, "
     "found "
     "recompute = layers=3, 2 layers in the largest stage; nearest: recompute "
     "= "
     "layers=2 or full\n"},
    {"gpt2-nano",
     {{"pp", "2"}, {"layers-per-stage", "1,3"}, {"recompute", "layers=3"}},
     ""},
    {"gpt2-nano",
     {{"overlap", "p2p,param-gather"}},
     "expected zero >= 1 with overlap = param-gather, found zero = 0, overlap "
     "= p2p,param-gather; nearest: zero = 1, or overlap = p2p\n"},
    {"gpt2-nano", {{"overlap", "param-gather"}, {"zero", "1"}}, ""},
    {"gpt2-nano", {{"recompute", "microbatches=16"}}, ""},
    // As many as the smallest batch has; where it is not whole, none to count.
    {"gpt2-nano",
     {{"global-batch-size", "2,16"}, {"recompute", "microbatches=2"}},
     ""},
    {"gpt2-nano",
     {{"global-batch-size", "2,16"}, {"recompute", "microbatches=3"}},
     "expected recompute = microbatches=N with no more microbatches than a "
     "step has, found recompute = microbatches=3, 2 microbatches a step; "
     "nearest: recompute = microbatches=2 or full\n"},
    {"gpt2-nano",
     {{"global-batch-size", "2,16"},
      {"dp", "4"},
      {"recompute", "microbatches=1"}},
     "expected global_batch_size % (micro_batch_size * dp) == 0, found "
     "global_batch_size = 2, micro_batch_size = 1, dp = 4; nearest: "
     "global_batch_size = 4\n"},
    {"gpt2-nano",
     {{"micro-batch-size", "8"}, {"recompute", "microbatches=3"}},
     "expected recompute = microbatches=N with no more microbatches than a "
     "step has, found recompute = microbatches=3, 2 microbatches a step; "
     "nearest: recompute = microbatches=2 or full\n"},
    {"gpt2-nano",
     {{"global-batch-size", "4,3"},
      {"micro-batch-size", "2"},
      {"recompute", "microbatches=3"}},
     "expected global_batch_size % (micro_batch_size * dp) == 0, found "
     "global_batch_size = 3, micro_batch_size = 2, dp = 1; nearest: "
     "global_batch_size = 2 or 4, or micro_batch_size = 1 or 3\n"
     "expected recompute = microbatches=N with no more microbatches than a "
     "step has, found recompute = microbatches=3, 2 microbatches a step; "
     "nearest: recompute = microbatches=2 or full\n"},
    {"gpt2-nano",
     {{"recompute", "full"}, {"distribute-saved-activations", "true"}},
     ""},
    {"gpt2-nano",
     {{"dp", "2"},
      {"pp", "2"},
      {"chunks", "2"},
      {"reset-attention", "true"},
      {"shard.heads", "dp"},
      {"shard.kv-heads", "dp"}},
     "expected one chunk a stage with reset_attention and heads over dp, found "
     "chunks = 2, reset_attention = true, heads over dp; nearest: chunks = 1, "
     "or heads over tp\n"},
    {"gpt2-nano",
     {{"distribute-saved-activations", "true"}},
     "expected distribute_saved_activations with recompute, found "
     "distribute_saved_activations = true, recompute = none; nearest: "
     "recompute = full, or no distribute_saved_activations\n"},
    {"gpt2-nano",
     {{"recompute", "full"},
      {"sequence-parallel", "true"},
      {"distribute-saved-activations", "true"}},
     "expected distribute_saved_activations without sequence_parallel, which "
     "splits what is saved already, found distribute_saved_activations = "
     "true, sequence_parallel = true; nearest: one of both\n"},
    // Rules of different kinds are reported together.
    {"gpt2-nano",
     {{"dp", "32"}, {"pp", "6"}, {"seq-length", "64"}},
     "expected global_batch_size % (micro_batch_size * dp) == 0, found "
     "global_batch_size = 16, micro_batch_size = 1, dp = 32; nearest: "
     "global_batch_size = 32\n"
     "expected layers >= pp, found layers = 4, pp = 6; nearest: pp = 4\n"
     "expected seq_length <= max_seq, found seq_length = 64, max_seq = 32; "
     "nearest: seq_length = 32\n"},
};

TEST(Validate, Table) {
  for (const Misfit &misfit : misfits) {
    Strategy strategy;
    strategy.globalBatchSize = 16;
    ASSERT_EQ(render(applyOptions(strategy, misfit.options, test::kSchedules)),
              "");
    auto found = toDiagnostics(validate(loadSpec(misfit.spec), strategy));
    EXPECT_EQ(render(found), misfit.rendered);
    EXPECT_EQ(exitCode(found), *misfit.rendered ? 4 : 0);
  }
}

TEST(Validate, EachElementHasARandomWord) {
  Strategy strategy;
  strategy.globalBatchSize = 1;
  ModelSpec spec = loadSpec("gpt2-nano");
  spec.maxSeq = 1 << 20;
  spec.hidden = 4096;
  spec.heads = 4;
  spec.headDim = 1024;
  EXPECT_EQ(render(toDiagnostics(validate(spec, strategy))), "");
  spec.hidden = 4100;
  spec.heads = 5;
  spec.headDim = 820;
  EXPECT_EQ(render(toDiagnostics(validate(spec, strategy))),
            "expected hidden * seq_length <= 2^32 with dropout, so that each "
            "element has a random word of its own, found hidden = 4100, "
            "seq_length = 1048576; nearest: seq_length = 1047552, or "
            "dropout.embedding = 0 and dropout.hidden = 0\n"
            "expected heads * seq_length^2 <= 2^42 with dropout.attention, so "
            "that each score has a random word of its own, found heads = 5, "
            "seq_length = 1048576; nearest: seq_length = 937874, or "
            "dropout.attention = 0\n");
  spec.dropout = {};
  EXPECT_EQ(render(toDiagnostics(validate(spec, strategy))), "");
}

TEST(Validate, TheGlobalBatchMustBeGiven) {
  Strategy strategy;
  strategy.mesh[MTC_AXIS_DP] = 2;
  EXPECT_EQ(render(toDiagnostics(validate(loadSpec("gpt2-nano"), strategy))),
            "expected global_batch_size, the samples of a step, a multiple of "
            "micro_batch_size * dp = 2, found none; nearest: --gbs 2\n");
}

TEST(Validate, ParametersAreNotNarrowerThanTheModel) {
  Strategy strategy;
  strategy.globalBatchSize = 1;
  ShardOverride narrow;
  narrow.pattern = "head.*";
  narrow.dtype = "bf16";
  strategy.overrides = {narrow};
  ModelSpec spec = loadSpec("gpt2-nano");
  EXPECT_EQ(render(toDiagnostics(validate(spec, strategy))),
            "expected dtype = f32, or that of the strategy, in an override, "
            "found dtype = bf16 of 'head.*', dtype = f32 of the strategy; "
            "nearest: dtype = f32, or bf16 of the strategy and f32 in "
            "overrides of other parameters\n");
  strategy.dtype = "bf16";
  EXPECT_TRUE(validate(spec, strategy).empty());
}

TEST(Validate, GradientsAreNotNarrowerThanTheModel) {
  Strategy strategy;
  strategy.globalBatchSize = 1;
  strategy.gradDtype = "bf16";
  ModelSpec spec = loadSpec("gpt2-nano");
  EXPECT_EQ(render(toDiagnostics(validate(spec, strategy))),
            "expected dtype = bf16 with grad_dtype = bf16, found dtype = f32; "
            "nearest: grad_dtype = f32, or dtype = bf16\n");
  strategy.dtype = "bf16";
  EXPECT_TRUE(validate(spec, strategy).empty());
}

// An override that splits a dimension brings the dimension's rule back.
TEST(Validate, OverridesSplit) {
  Strategy strategy;
  strategy.globalBatchSize = 1;
  strategy.mesh[MTC_AXIS_TP] = 3;
  for (LogicalAxis axis : {LogicalAxis::heads, LogicalAxis::kvHeads,
                           LogicalAxis::ffn, LogicalAxis::vocab})
    strategy.shard.set(axis, MeshAxis::none);
  ModelSpec spec = loadSpec("gpt2-nano");
  EXPECT_TRUE(validate(spec, strategy).empty());
  strategy.overrides = {{"layers.0.mlp.*", {{LogicalAxis::ffn, MeshAxis::tp}}}};
  ASSERT_EQ(validate(spec, strategy).size(), 1u);
  EXPECT_EQ(validate(spec, strategy)[0].rule, "ffn % tp == 0");
}

// Fewer heads of keys than ranks along tp are shared there, and there alone:
// over another axis an override splits all of them.
TEST(Validate, KeysAreSharedAlongTpAlone) {
  Strategy strategy;
  strategy.globalBatchSize = 2;
  strategy.mesh[MTC_AXIS_TP] = 4;
  strategy.mesh[MTC_AXIS_DP] = 2;
  ModelSpec spec = loadSpec("gpt2-nano");
  spec.kvHeads = 1;
  auto over = [&](MeshAxis axis) {
    strategy.overrides = {{"layers.*.attn.*", {{LogicalAxis::kvHeads, axis}}}};
    return validate(spec, strategy);
  };
  EXPECT_TRUE(over(MeshAxis::tp).empty());
  ASSERT_EQ(over(MeshAxis::dp).size(), 1u);
  EXPECT_EQ(over(MeshAxis::dp)[0].rule, "kv_heads % dp == 0");
}
