//===- key_names_test.cpp - names of options as keys of files -------------===//

#include "models/key_names.h"
#include "support.h"

using namespace mtc::models;

namespace mtc::models::test {
namespace {

nlohmann::ordered_json read(const std::string &text) {
  auto parsed = parseStrategy(text, "f", kSchedules);
  EXPECT_EQ(render(parsed.diagnostics), "") << text;
  return toJson(parsed.value);
}

std::string errors(const std::string &text,
                   const std::vector<std::string> &set = {}) {
  auto settings = Settings::parse(set, {"model", "strategy"});
  if (!settings.ok())
    return render(settings.diagnostics);
  return render(
      parseStrategy(text, "f", kSchedules, settings.value).diagnostics);
}

/// (other names, ours): both are the same strategy.
const std::pair<const char *, const char *> kSame[] = {
    {"sp = true\nmbs = 2\ngbs = 8\nseq = 16\nthreads = 2\n",
     "sequence_parallel = true\nmicro_batch_size = 2\nglobal_batch_size = 8\n"
     "seq_length = 16\nthreads_per_rank = 2\n"},
    {"tensor-model-parallel-size = 2\npipeline_model_parallel_size = 2\n"
     "stages = [1, 3]\nmicro-batch-size = 4\n",
     "tp = 2\npp = 2\nlayers_per_stage = [1, 3]\nmicro_batch_size = 4\n"},
    {"use_distributed_optimizer = true\nbf16 = true\nfp16 = false\n"
     "recompute_granularity = \"full\"\n",
     "zero = 1\ndtype = \"bf16\"\nrecompute = \"full\"\n"},
    {"overlap_grad_reduce = true\noverlap-param-gather = true\n",
     "overlap = \"p2p,grad-reduce,param-gather\"\n"},
    {"overlap_grad_reduce = false\nuse_distributed_optimizer = false\n", ""}};

TEST(KeyNames, OfOptionsInFiles) {
  for (auto [other, own] : kSame)
    EXPECT_EQ(read(other), read(own)) << other;
}

TEST(KeyNames, EachOptionHasAKey) {
  for (const std::string &name : otherNames())
    EXPECT_EQ(errors(name + " = {}\n").find("unknown key"), std::string::npos)
        << name;
}

TEST(KeyNames, WhatIsSetReplacesTheFileUnderAnyName) {
  auto settings = Settings::parse({"strategy.sp=true", "strategy.gbs=4"},
                                  {"model", "strategy"});
  auto parsed = parseStrategy("sequence_parallel = false\nglobal-batch-size = "
                              "8\n",
                              "f", kSchedules, settings.value);
  EXPECT_EQ(render(parsed.diagnostics), "");
  EXPECT_TRUE(parsed.value.sequenceParallel);
  EXPECT_EQ(parsed.value.globalBatchSize, 4);
  EXPECT_EQ(settings.value.sourceOf("strategy.sequence_parallel"),
            "strategy.sp=true");
}

TEST(KeyNames, Errors) {
  EXPECT_EQ(errors("sp = true\ntp = 2\nsequence_parallel = true\n"),
            "f:3: key 'sequence_parallel': expected 'sequence_parallel' under "
            "one name, found it as 'sp' as well\n");
  EXPECT_EQ(errors("bf16 = true\nfp16 = true\n"),
            "f:2: key 'fp16': expected 'dtype' under one name, found it as "
            "'bf16' as well\n");
  EXPECT_EQ(errors("zero = 1\nuse_distributed_optimizer = false\n"),
            "f:2: key 'use_distributed_optimizer': expected 'zero' under one "
            "name, found it as 'zero' as well\n");
  EXPECT_EQ(errors("bf16 = 1\n"), "f:1: key 'bf16': expected true or false, "
                                  "found an integer 1\n");
  EXPECT_EQ(errors("tp = 2\ndata_parallel_size = 2\n"),
            "f:2: key 'data_parallel_size': no key of a strategy as it is of "
            "Megatron-LM: give --dp\n");
  EXPECT_EQ(errors("use_distributed_optimiser = true\n"),
            "f:1: unknown key 'use_distributed_optimiser', did you mean "
            "'use_distributed_optimizer'?\n");
  EXPECT_EQ(errors("mbs = 0\n"),
            "f:1: key 'micro_batch_size': expected an integer in [1, 1048576], "
            "found an integer 0; the nearest valid value is 1\n");
}

TEST(KeyNames, ErrorsOfWhatIsSet) {
  EXPECT_EQ(errors("", {"strategy.sp=true", "strategy.sequence_parallel="
                                            "false"}),
            "--set strategy.sequence_parallel=false: key "
            "'strategy.sequence_parallel': contradicts --set "
            "strategy.sp=true\n");
  EXPECT_EQ(errors("zero = 1\n", {"strategy.use_distributed_optimizer=false"}),
            "--set strategy.use_distributed_optimizer=false: key "
            "'use_distributed_optimizer': expected true, found false, which "
            "says nothing over a file; set 'zero'\n");
}

TEST(KeyNames, NoneIsListedTwiceAndAListNamesWhatItHasTwice) {
  std::string all = errors("nothing_like_any_of_these = 1\n");
  size_t first = all.find("global_batch_size");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(all.find("global_batch_size", first + 1), std::string::npos);
  EXPECT_EQ(errors("gbs = [8, 8]\n"),
            "f:1: key 'global_batch_size': expected an integer in [1, "
            "1073741824], or a list of such, each once, found a list, with 8 "
            "twice\n");
}

} // namespace
} // namespace mtc::models::test
