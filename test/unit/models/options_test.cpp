//===- options_test.cpp - options of the command line ---------------------===//

#include "support.h"

using namespace mtc::models;

TEST(Options, ReplaceTheFile) {
  Strategy strategy =
      parseStrategy("tp = 2\npp = 2\nzero = 1\n", "f", test::kSchedules).value;
  Diagnostics found = applyOptions(strategy,
                                   {{"tp", "4"},
                                    {"micro-batch-size", "8"},
                                    {"global_batch_size", "64"},
                                    {"layers-per-stage", "1,3"},
                                    {"schedule", "gpipe"},
                                    {"device-memory", "1GiB"},
                                    {"shard.kv-heads", "none"}},
                                   test::kSchedules);
  EXPECT_EQ(render(found), "");
  EXPECT_EQ(strategy.mesh[MTC_AXIS_TP], 4);
  EXPECT_EQ(strategy.mesh[MTC_AXIS_PP], 2);
  EXPECT_EQ(strategy.zero, 1);
  EXPECT_EQ(strategy.microBatchSize, 8);
  EXPECT_EQ(strategy.globalBatchSize, 64);
  EXPECT_EQ(strategy.layersPerStage, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(strategy.schedule, "gpipe");
  EXPECT_EQ(strategy.deviceMemory, 1 << 30);
  EXPECT_EQ(strategy.shard.meshAxis(LogicalAxis::kvHeads), MeshAxis::none);
}

TEST(Options, AllErrorsTogetherAndTheRestApplied) {
  Strategy strategy;
  Diagnostics found = applyOptions(strategy,
                                   {{"tp", "two"},
                                    {"ppp", "2"},
                                    {"dp", "2"},
                                    {"layers-per-stage", "1,,2"},
                                    {"seq-length", "16,"},
                                    {"shard.ffn", "pp"},
                                    {"override", "x"}},
                                   test::kSchedules);
  EXPECT_EQ(
      render(found),
      "--tp: key 'tp': expected an integer in [1, 65536], found a string "
      "\"two\"\n"
      "--ppp: unknown option, did you mean 'pp'?\n"
      "--layers-per-stage: key 'layers_per_stage': expected an integer "
      "in [0, 65535] at position 2, found a string \"\"\n"
      "--seq-length: key 'seq_length': expected an integer "
      "in [1, 1048576] at position 2, found a string \"\"\n"
      "--shard.ffn: key 'shard.ffn': expected one of tp, cp, dp, none, found "
      "a string \"pp\", did you mean 'tp'?\n"
      "--override: unknown option, expected one of: tp, cp, dp, pp, "
      "rank-order, ranks-per-host, micro-batch-size, global-batch-size, "
      "seq-length, zero, "
      "sequence-parallel, threads-per-rank, comm-thread, bucket-size, "
      "schedule, target, "
      "dtype, grad-dtype, "
      "optimizer, bucket-layout, reset-positions, reset-attention, "
      "mask-document-ends, loss-per-token, chunks, microbatch-group, "
      "layers-per-stage, "
      "first-stage-layers, "
      "last-stage-layers, device-memory, "
      "recompute, distribute-saved-activations, overlap, gemm-epilogues, "
      "gemm, prepack, gemm-table, "
      "shard.batch, shard.seq, "
      "shard.embed, shard.heads, shard.kv-heads, shard.head-dim, "
      "shard.ffn, shard.vocab, shard.expert, shard.qkv, shard.gate-up\n");
  EXPECT_EQ(exitCode(found), 2);
  EXPECT_EQ(strategy.mesh[MTC_AXIS_DP], 2);
  EXPECT_EQ(strategy.mesh[MTC_AXIS_TP], 1);
}
