//===- strategy_test.cpp - strategies that are right ----------------------===//

#include <filesystem>

#include "models/resolve.h"
#include "models/validate.h"
#include "support.h"

using namespace mtc::models;
using test::loadSpec;

/// A strategy named as a spec is for that spec, any other for all small ones.
static std::string specOf(const std::filesystem::path &strategy) {
  std::string name = strategy.stem().string();
  bool own = std::filesystem::exists(MTC_MODELS_DIR "/specs/" + name + ".toml");
  return own ? name : "gpt2-nano";
}

TEST(Strategy, EveryFileLoadsAndFitsItsSpec) {
  int count = 0;
  for (auto &entry :
       std::filesystem::directory_iterator(MTC_MODELS_DIR "/strategies")) {
    ModelSpec spec = loadSpec(specOf(entry.path()));
    auto strategy = loadStrategy(entry.path().string(),
                                 {{"1f1b", "gpipe", "interleaved-1f1b"}});
    EXPECT_TRUE(strategy.ok()) << render(strategy.diagnostics);
    EXPECT_TRUE(unsupported(strategy.value).empty()) << entry.path();
    EXPECT_EQ(render(toDiagnostics(validate(spec, strategy.value))), "")
        << entry.path();
    ++count;
  }
  EXPECT_GE(count, 4);
}

/// What a recipe of the same paper cannot say (models/recipes): 512 samples a
/// step and dropout of 0.1 (arXiv:1909.08053, 4.1).
TEST(Strategy, MegatronsGpt2HasThePapersBatchAndDropout) {
  for (const char *size : {"1.2b", "2.5b", "4.2b", "8.3b"}) {
    std::string name = std::string("megatron-") + size;
    auto strategy = loadStrategy(MTC_MODELS_DIR "/strategies/" + name + ".toml",
                                 {{"1f1b"}});
    ASSERT_TRUE(strategy.ok()) << render(strategy.diagnostics);
    EXPECT_EQ(strategy.value.globalBatchSize, 512) << name;
    EXPECT_EQ(strategy.value.optimizer, "adamw") << name;
    DropoutSpec dropout = loadSpec(name).dropout;
    EXPECT_EQ(dropout.embedding, 0.1) << name;
    EXPECT_EQ(dropout.attention, 0.1) << name;
    EXPECT_EQ(dropout.hidden, 0.1) << name;
  }
}

TEST(Strategy, EveryKeyIsRead) {
  auto parsed = parseStrategy(R"(tp = 2
pp = 3
chunks = 1
microbatch_group = 6
dp = 4
micro_batch_size = 5
global_batch_size = 40
seq_length = 7
schedule = "gpipe"
layers_per_stage = [1, 2, 1]
zero = 1
threads_per_rank = 8
bucket_size = 9
sequence_parallel = true
target = "cpu"
dtype = "f32"
device_memory = "3KiB"
recompute = "ops=norm,attention"
overlap = "none"
gemm_epilogues = "bias"
gemm = "own"
prepack = "auto"
gemm_table = "t.json"
[shard]
ffn = "none"
[[override]]
pattern = "layers.*.mlp.*"
shard = { ffn = "tp" }
)",
                              "s.toml", test::kSchedules);
  ASSERT_TRUE(parsed.ok()) << render(parsed.diagnostics);
  EXPECT_EQ(
      toJson(parsed.value).dump(),
      R"({"tp":2,"cp":1,"dp":4,"pp":3,"rank_order":"tp-cp-dp-pp","ranks_per_host":0,"micro_batch_size":5,"global_batch_size":40,)"
      R"("seq_length":7,"zero":1,"sequence_parallel":true,"threads_per_rank":8,"comm_thread":false,"bucket_size":9,)"
      R"("schedule":"gpipe","target":"cpu","dtype":"f32","grad_dtype":"f32","optimizer":"adamw","bucket_layout":"aligned",)"
      R"("reset_positions":false,"reset_attention":false,"mask_document_ends":false,"loss_per_token":false,)"
      R"("chunks":1,"microbatch_group":6,"layers_per_stage":[1,2,1],"first_stage_layers":null,"last_stage_layers":null,"device_memory":3072,"recompute":"ops=attention,norm","distribute_saved_activations":false,"overlap":"none","gemm_epilogues":"bias","gemm":"own","prepack":"auto","gemm_table":"t.json",)"
      R"("shard":{"batch":"dp","seq":"cp","embed":"none","heads":"tp",)"
      R"("kv_heads":"tp","head_dim":"none","ffn":"none","vocab":"tp",)"
      R"("expert":"none","qkv":"none","gate_up":"none"},)"
      R"("override":[{"pattern":"layers.*.mlp.*","shard":{"ffn":"tp"},"gather_output":false,"dtype":"","group":"","decay":null}]})");
  EXPECT_EQ(parsed.value.mesh.worldSize(), 24);
  EXPECT_EQ(parsed.value.microbatches(), 2);
}

using Axes = std::map<LogicalAxis, MeshAxis>;

TEST(Strategy, TheLastGroupAndDecayOfOverridesHold) {
  Strategy strategy;
  strategy.overrides = {{"embed.*", {}},
                        {"*.weight", {}},
                        {"layers.0.*", {}},
                        {"layers.0.mlp.*", {}},
                        {"layers.0.*.bias", {}}};
  strategy.overrides[0].group = "slow";
  strategy.overrides[1].group = "fast";
  strategy.overrides[2].group = "slow";
  strategy.overrides[3].decay = false;
  strategy.overrides[4].decay = true;
  EXPECT_EQ(strategy.groups(), (std::vector<std::string>{"slow", "fast"}));
  EXPECT_EQ(strategy.groupOf("embed.tokens"), "slow");
  EXPECT_EQ(strategy.groupOf("layers.1.mlp.up.weight"), "fast");
  EXPECT_EQ(strategy.groupOf("layers.0.mlp.up.weight"), "slow");
  EXPECT_EQ(strategy.groupOf("final_norm.scale"), "");
  EXPECT_FALSE(strategy.decays("layers.0.mlp.up.weight", true));
  EXPECT_TRUE(strategy.decays("layers.0.mlp.up.bias", false));
  EXPECT_TRUE(strategy.decays("embed.tokens", true));
  EXPECT_FALSE(strategy.decays("final_norm.scale", false));
}

TEST(Strategy, TheLastTypeOfAnOverrideHolds) {
  Strategy strategy;
  strategy.dtype = "bf16";
  EXPECT_EQ(strategy.dtypeOf("final_norm.scale"), "bf16");
  ShardOverride wide, narrow, other;
  wide.pattern = "*norm*";
  wide.dtype = "f32";
  narrow.pattern = "layers.*.scale";
  narrow.dtype = "bf16";
  other.pattern = "*";
  other.gatherOutput = true;
  strategy.overrides = {wide, narrow, other};
  EXPECT_EQ(strategy.dtypeOf("final_norm.scale"), "f32");
  EXPECT_EQ(strategy.dtypeOf("layers.0.norm1.scale"), "bf16");
  EXPECT_EQ(strategy.dtypeOf("layers.0.norm1.bias"), "f32");
  EXPECT_EQ(strategy.dtypeOf("embed.tokens"), "bf16");
}

TEST(Strategy, TheLastOverrideHolds) {
  Strategy strategy;
  strategy.overrides = {
      {"layers.*.mlp.*", {{LogicalAxis::ffn, MeshAxis::none}}},
      {"layers.1.*", {{LogicalAxis::ffn, MeshAxis::tp}}}};
  EXPECT_EQ(strategy.meshAxes("layers.0.mlp.up.bias", {LogicalAxis::ffn}),
            (Axes{{LogicalAxis::ffn, MeshAxis::none}}));
  EXPECT_EQ(strategy.meshAxes("layers.1.mlp.up.bias", {LogicalAxis::ffn}),
            (Axes{{LogicalAxis::ffn, MeshAxis::tp}}));
  EXPECT_EQ(strategy.meshAxes("layers.0.attn.out.weight",
                              {LogicalAxis::heads, LogicalAxis::embed}),
            (Axes{{LogicalAxis::heads, MeshAxis::tp},
                  {LogicalAxis::embed, MeshAxis::none}}));
}

/// A mesh axis splits one dimension of a parameter, and the later rule says
/// which; where a parameter lacks the dimension, the rule says nothing.
TEST(Strategy, ARuleTakesItsMeshAxisFromEarlierOnes) {
  Strategy strategy;
  strategy.overrides = {{"*", {{LogicalAxis::embed, MeshAxis::tp}}}};
  EXPECT_EQ(
      strategy.meshAxes("up.weight", {LogicalAxis::embed, LogicalAxis::ffn}),
      (Axes{{LogicalAxis::embed, MeshAxis::tp},
            {LogicalAxis::ffn, MeshAxis::none}}));
  EXPECT_EQ(strategy.meshAxes("up.bias", {LogicalAxis::ffn}),
            (Axes{{LogicalAxis::ffn, MeshAxis::tp}}));
  strategy.overrides.push_back({"up.*", {{LogicalAxis::ffn, MeshAxis::tp}}});
  EXPECT_EQ(
      strategy.meshAxes("up.weight", {LogicalAxis::embed, LogicalAxis::ffn}),
      (Axes{{LogicalAxis::embed, MeshAxis::none},
            {LogicalAxis::ffn, MeshAxis::tp}}));
}

TEST(Strategy, Bytes) {
  EXPECT_EQ(parseBytes("80GiB"), int64_t{80} << 30);
  EXPECT_EQ(parseBytes("512MB"), 512000000);
  EXPECT_EQ(parseBytes("4096"), 4096);
  for (const char *bad : {"", "GiB", "-1", "1.5GiB", "80 GiB", "80gib",
                          "9223372036854775807TiB", "99999999999999999999"})
    EXPECT_EQ(parseBytes(bad), -1) << bad;
}

TEST(Strategy, ResolveFillsDefaults) {
  Strategy strategy;
  strategy.mesh[MTC_AXIS_PP] = 2;
  strategy = resolve(loadSpec("gpt2-nano"), strategy);
  EXPECT_EQ(strategy.seqLength, 32);
  EXPECT_EQ(strategy.layersPerStage, (std::vector<int64_t>{2, 2}));
}

/// Megatron-LM's sizes.
TEST(Strategy, ABucketIsFullAtAMillionElementsOfEachReplica) {
  ModelSpec spec = loadSpec("gpt2-nano");
  Strategy strategy;
  EXPECT_EQ(resolve(spec, strategy).bucketSize, 40'000'000);
  strategy.mesh[MTC_AXIS_DP] = 40;
  EXPECT_EQ(resolve(spec, strategy).bucketSize, 40'000'000);
  strategy.mesh[MTC_AXIS_DP] = 192;
  EXPECT_EQ(resolve(spec, strategy).bucketSize, 192'000'000);
  strategy.bucketSize = 500;
  EXPECT_EQ(resolve(spec, strategy).bucketSize, 500);
}

/// The loss is summed over a data axis, so it must split what is read.
TEST(Strategy, EveryDataAxisSplitsAnInputAndMust) {
  for (const mtc::AxisInfo &axis : mtc::kAxes) {
    auto mesh = static_cast<MeshAxis>(axis.id);
    int inputs = 0;
    for (LogicalAxis logical : {LogicalAxis::batch, LogicalAxis::seq})
      if (ShardRules().meshAxis(logical) == mesh) {
        ++inputs;
        EXPECT_FALSE(ShardRules::buildable(logical, MeshAxis::none));
        EXPECT_FALSE(ShardRules::buildableOfParameters(logical, mesh));
        EXPECT_EQ(ShardRules::buildableOfParameters(LogicalAxis::ffn, mesh),
                  !axis.headAndTail);
        EXPECT_FALSE(
            ShardRules::buildableOfParameters(LogicalAxis::embed, mesh));
      }
    EXPECT_EQ(inputs > 0, axis.data) << axis.name;
  }
  EXPECT_TRUE(ShardRules::buildable(LogicalAxis::ffn, MeshAxis::none));
  EXPECT_TRUE(ShardRules::buildable(LogicalAxis::embed, MeshAxis::tp));
  EXPECT_TRUE(ShardRules::buildable(LogicalAxis::ffn, MeshAxis::dp));
}

TEST(Strategy, UnbuiltSplitsAreNamed) {
  Strategy strategy;
  strategy.shard.set(LogicalAxis::seq, MeshAxis::tp);
  strategy.shard.set(LogicalAxis::batch, MeshAxis::none);
  strategy.overrides = {{"head.*",
                         {{LogicalAxis::vocab, MeshAxis::dp},
                          {LogicalAxis::seq, MeshAxis::cp},
                          {LogicalAxis::batch, MeshAxis::dp}}}};
  EXPECT_EQ(test::sentences(unsupported(strategy)),
            (std::vector<std::string>{
                "shard: splitting 'batch' over 'none' cannot be compiled yet; "
                "use \"dp\"",
                "shard: splitting 'seq' over 'tp' cannot be compiled yet; use "
                "\"cp\"",
                "override 'head.*': splitting 'vocab' over 'dp' cannot be "
                "compiled yet; use \"tp\"",
                "override 'head.*': splitting 'seq' over 'cp' cannot be "
                "compiled yet; use \"none\"",
                "override 'head.*': splitting 'batch' over 'dp' cannot be "
                "compiled yet; use \"none\""}));
}

TEST(Strategy, ASchedulesIsANameOrAPath) {
  const ScheduleNames names = {{"known"}};
  for (const char *path : {"mine.txt", "folder/mine", "./known"})
    EXPECT_EQ(
        parseStrategy(std::string("schedule = \"") + path + "\"\n", "f", names)
            .value.schedule,
        path);
  auto parsed = parseStrategy("schedule = \"knwn\"\n", "f", names);
  EXPECT_EQ(render(parsed.diagnostics),
            "f:1: key 'schedule': expected known, or the path of a "
            "file, found a string \"knwn\", did you mean "
            "'known'?\n");
  EXPECT_EQ(parseStrategy("tp = 1\n", "f", names).value.schedule, "");
}
