//===- strategy_errors_test.cpp - strategies that are wrong ---------------===//

#include "support.h"

using namespace mtc::models;
using test::BadInput;

static const BadInput strategyInputs[] = {
    {"MisspelledKey", "tp = 2\nmicro_batchsize = 2\n",
     "f:2: unknown key 'micro_batchsize', did you mean 'micro_batch_size'?\n"},
    {"Zero", "tp = 0\n",
     "f:1: key 'tp': expected an integer in [1, 65536], found an integer 0; "
     "the nearest valid value is 1\n"},
    {"ZeroThree", "zero = 3\n",
     "f:1: key 'zero': expected an integer in [0, 2], found an integer 3; the "
     "nearest valid value is 2\n"},
    {"ZeroBoolean", "zero = true\n",
     "f:1: key 'zero': expected an integer in [0, 2], found a boolean true\n"},
    {"Schedule", "schedule = \"1f1\"\n",
     "f:1: key 'schedule': expected one of 1f1b, gpipe, or the path of a file, "
     "found a string "
     "\"1f1\", did you mean '1f1b'?\n"},
    {"ScheduleIsNumber", "schedule = 1\n",
     "f:1: key 'schedule': expected a string, found an integer 1\n"},
    {"Target", "\n\ntarget = \"cuda\"\n",
     "f:3: key 'target': expected cpu, or cuda: and names of sm_80, sm_86, "
     "sm_89, sm_90, sm_90a, sm_100, sm_120, with commas between them, found a "
     "string \"cuda\"\n"},
    {"Targets", "target = \"cuda:sm_75,sm_90,gpu,sm_90\"\n",
     "f:1: key 'target': expected cpu, or cuda: and names of sm_80, sm_86, "
     "sm_89, sm_90, sm_90a, sm_100, sm_120, with commas between them, found a "
     "string \"cuda:sm_75,sm_90,gpu,sm_90\", did you mean 'sm_80' by "
     "'sm_75'?, where 'gpu' is no architecture, with 'sm_90' twice\n"},
    {"TargetOfNothing", "target = \"cuda:\"\n",
     "f:1: key 'target': expected cpu, or cuda: and names of sm_80, sm_86, "
     "sm_89, sm_90, sm_90a, sm_100, sm_120, with commas between them, found a "
     "string \"cuda:\", where '' is no architecture\n"},
    {"Dtype", "dtype = \"f16\"\n",
     "f:1: key 'dtype': expected one of f32, fp16, bf16, found a string "
     "\"f16\", "
     "did you mean 'fp16'?\n"},
    {"Optimizer", "optimizer = \"adam\"\n",
     "f:1: key 'optimizer': expected one of adamw, adam_l2, sgd, nesterov, "
     "lion, found a string \"adam\", did you mean 'adamw'?\n"},
    {"StagesAsNumber", "layers_per_stage = 2\n",
     "f:1: key 'layers_per_stage': expected \"balanced\", a layout like "
     "\"Et*2|(ttt|)*2tL\" (E embedding, t layer, L head, | the end of a "
     "stage), or a list of "
     "integers, each an integer in [0, 65535], found an integer 2\n"},
    {"StagesInCapitals", "layers_per_stage = \"Balanced\"\n",
     "f:1: key 'layers_per_stage': expected \"balanced\", a layout like "
     "\"Et*2|(ttt|)*2tL\" (E embedding, t layer, L head, | the end of a "
     "stage), or a list of "
     "integers, each an integer in [0, 65535], found a string \"Balanced\", "
     "did you mean 'balanced'?\n"},
    {"StageOfLessThanNothing", "layers_per_stage = [4, -1]\n",
     "f:1: key 'layers_per_stage': expected an integer in [0, 65535] at "
     "position 2, found an integer -1; the nearest valid value is 0\n"},
    {"StageIsText", "layers_per_stage = [\"4\"]\n",
     "f:1: key 'layers_per_stage': expected an integer in [0, 65535] at "
     "position 1, found a string \"4\"\n"},
    {"OverlapIsMisspelled", "overlap = \"p2\"\n",
     "f:1: key 'overlap': expected none or names of p2p, grad-reduce, "
     "param-gather, with commas between them, found a string \"p2\", did you "
     "mean 'p2p' by 'p2'?\n"},
    {"OverlapTwice", "overlap = \"p2p,p2p\"\n",
     "f:1: key 'overlap': expected none or names of p2p, grad-reduce, "
     "param-gather, with commas between them, found a string \"p2p,p2p\", with "
     "'p2p' twice\n"},
    {"OverlapIsUnknown", "overlap = \"everything\"\n",
     "f:1: key 'overlap': expected none or names of p2p, grad-reduce, "
     "param-gather, with commas between them, found a string \"everything\", "
     "where 'everything' "
     "is nothing that "
     "overlaps\n"},
    {"RecomputeIsMisspelled", "recompute = \"ful\"\n",
     "f:1: key 'recompute': expected one of none, selective, full, fit, "
     "layers=N "
     "with N in [1, 65535], microbatches=N with N in [1, 100000], "
     "ops=FAMILY,... of attention, dropout, einsum, "
     "norm, pointwise, found a string \"ful\", did you mean 'full'?\n"},
    {"RecomputeLayersLackANumber", "recompute = \"layers\"\n",
     "f:1: key 'recompute': expected one of none, selective, full, fit, "
     "layers=N "
     "with N in [1, 65535], microbatches=N with N in [1, 100000], "
     "ops=FAMILY,... of attention, dropout, einsum, "
     "norm, pointwise, found a string \"layers\", did you mean 'layers=1'?\n"},
    {"RecomputeNoLayers", "recompute = \"layers=0\"\n",
     "f:1: key 'recompute': expected one of none, selective, full, fit, "
     "layers=N "
     "with N in [1, 65535], microbatches=N with N in [1, 100000], "
     "ops=FAMILY,... of attention, dropout, einsum, "
     "norm, pointwise, found a string \"layers=0\"\n"},
    {"RecomputeLayersIsText", "recompute = \"layers=two\"\n",
     "f:1: key 'recompute': expected one of none, selective, full, fit, "
     "layers=N "
     "with N in [1, 65535], microbatches=N with N in [1, 100000], "
     "ops=FAMILY,... of attention, dropout, einsum, "
     "norm, pointwise, found a string \"layers=two\"\n"},
    {"RecomputeNoMicrobatches", "recompute = \"microbatches=0\"\n",
     "f:1: key 'recompute': expected one of none, selective, full, fit, "
     "layers=N "
     "with N in [1, 65535], microbatches=N with N in [1, 100000], "
     "ops=FAMILY,... of attention, dropout, einsum, "
     "norm, pointwise, found a string \"microbatches=0\"\n"},
    {"RecomputeFamilyIsMisspelled", "recompute = \"ops=norm,atention\"\n",
     "f:1: key 'recompute': expected one of none, selective, full, fit, "
     "layers=N "
     "with N in [1, 65535], microbatches=N with N in [1, 100000], "
     "ops=FAMILY,... of attention, dropout, einsum, "
     "norm, pointwise, found a string \"ops=norm,atention\", did you mean "
     "'attention' by 'atention'?\n"},
    {"RecomputeNoSuchFamily", "recompute = \"ops=mlp\"\n",
     "f:1: key 'recompute': expected one of none, selective, full, fit, "
     "layers=N "
     "with N in [1, 65535], microbatches=N with N in [1, 100000], "
     "ops=FAMILY,... of attention, dropout, einsum, "
     "norm, pointwise, found a string \"ops=mlp\", where 'mlp' is no family\n"},
    {"RecomputeNoFamily", "recompute = \"ops=\"\n",
     "f:1: key 'recompute': expected one of none, selective, full, fit, "
     "layers=N "
     "with N in [1, 65535], microbatches=N with N in [1, 100000], "
     "ops=FAMILY,... of attention, dropout, einsum, "
     "norm, pointwise, found a string \"ops=\", where '' is no family\n"},
    {"RecomputeFamilyTwice", "recompute = \"ops=norm,norm\"\n",
     "f:1: key 'recompute': expected one of none, selective, full, fit, "
     "layers=N "
     "with N in [1, 65535], microbatches=N with N in [1, 100000], "
     "ops=FAMILY,... of attention, dropout, einsum, "
     "norm, pointwise, found a string \"ops=norm,norm\", with 'norm' twice\n"},
    {"RecomputeIsTruth", "recompute = true\n",
     "f:1: key 'recompute': expected a string, found a boolean true\n"},
    {"Memory", "device_memory = \"80 gigs\"\n",
     "f:1: key 'device_memory': expected bytes, as a number or like \"80GiB\" "
     "(KiB MiB GiB TiB, KB MB GB TB), found a string \"80 gigs\"\n"},
    {"NegativeMemory", "device_memory = -1\n",
     "f:1: key 'device_memory': expected bytes, as a number or like \"80GiB\" "
     "(KiB MiB GiB TiB, KB MB GB TB), found an integer -1\n"},
    {"ShardAxis", "[shard]\nfnn = \"tp\"\n",
     "f:2: unknown key 'shard.fnn', did you mean 'ffn'?\n"},
    {"ShardMesh", "[shard]\nffn = \"pt\"\n",
     "f:2: key 'shard.ffn': expected one of tp, cp, dp, none, found a string "
     "\"pt\", did you mean 'tp'?\n"},
    {"RankOrder", "rank_order = \"dp-tp-cp-pp\"\n",
     "f:1: key 'rank_order': expected each axis of the mesh once with dashes "
     "between, tp first, such as \"tp-cp-dp-pp\", found a string "
     "\"dp-tp-cp-pp\"\n"},
    {"Stages", "layers_per_stage = \"even\"\n",
     "f:1: key 'layers_per_stage': expected \"balanced\", a layout like "
     "\"Et*2|(ttt|)*2tL\" (E embedding, t layer, L head, | the end of a "
     "stage), or a list of "
     "integers, each an integer in [0, 65535], found a string \"even\", with "
     "'e' at position 1\n"},
    {"OverrideIsTable", "[override]\npattern = \"*\"\n",
     "f:1: key 'override': expected tables headed [[override]], found a "
     "table\n"},
    {"OverrideIsNumber", "override = [1]\n",
     "f:1: key 'override': expected tables headed [[override]], found an "
     "integer 1\n"},
    {"OverrideWithoutPattern", "[[override]]\nshard = { ffn = \"none\" }\n",
     "f:1: key 'override.pattern': is missing; it has no default\n"},
    {"OverrideWithoutShard", "[[override]]\npattern = \"*\"\n",
     "f:1: key 'override.shard': is missing; write shard = { ffn = \"none\" }, "
     "gather_output = true, dtype = \"f32\", group = \"slow\" or decay = "
     "false\n"},
    {"OverrideOfAGroupWithoutAName",
     "[[override]]\npattern = \"*\"\ngroup = \"a b\"\n",
     "f:3: key 'override.group': expected a name of letters, digits, '_' and "
     "'-', found a string \"a b\"\n"},
    {"OverrideOfADecayThatIsNumber",
     "[[override]]\npattern = \"*\"\ndecay = 0.1\n",
     "f:3: key 'override.decay': expected true or false, found a number 0.1\n"},
    {"OverrideOfAnUnknownType",
     "[[override]]\npattern = \"*\"\ndtype = \"fp32\"\n",
     "f:3: key 'override.dtype': expected one of f32, fp16, bf16, found a "
     "string "
     "\"fp32\", did you mean 'f32'?\n"},
    {"BucketLayout", "bucket_layout = \"tight\"\n",
     "f:1: key 'bucket_layout': expected one of aligned, dense, found a string "
     "\"tight\"\n"},
    {"GradDtype", "grad_dtype = \"bf32\"\n",
     "f:1: key 'grad_dtype': expected one of f32, fp16, bf16, found a string "
     "\"bf32\", did you mean 'f32'?\n"},
    {"OverrideEmptyPattern",
     "[[override]]\npattern = \"\"\nshard = { ffn = \"none\" }\n",
     "f:2: key 'override.pattern': expected a parameter name, '*' for any "
     "characters, found a string \"\"\n"},
    {"All", "pp = -2\ndb = 1\nschedule = \"gpip\"\n",
     "f:1: key 'pp': expected an integer in [1, 65536], found an integer -2; "
     "the nearest valid value is 1\n"
     "f:2: unknown key 'db', did you mean 'dp'?\n"
     "f:3: key 'schedule': expected one of 1f1b, gpipe, or the path of a file, "
     "found a string "
     "\"gpip\", did you mean 'gpipe'?\n"},
};

TEST(StrategyErrors, Table) {
  for (const BadInput &input : strategyInputs) {
    auto parsed = parseStrategy(input.text, "f", test::kSchedules);
    EXPECT_EQ(render(parsed.diagnostics), input.rendered) << input.name;
    EXPECT_EQ(exitCode(parsed.diagnostics), 2) << input.name;
  }
}

TEST(StrategyErrors, UnreadableFile) {
  EXPECT_EQ(
      exitCode(loadStrategy("no/such/file.toml", test::kSchedules).diagnostics),
      3);
}
