//===- megatron_names.cpp - names of Megatron-LM that are not ours --------===//

#include "models/megatron_names.h"

#include <algorithm>

namespace mtc::models {

constexpr const char *kBoth = "give --stages balanced, which counts both ends";
constexpr const char *kCompiled =
    "it is compiled into the bundle: give it to mtc compile";
constexpr const char *kKeyOfTheSpec =
    "it is a key of the model's spec: give --set model.KEY=VALUE";
constexpr const char *kLayers = "give --recompute layers=N for the first N "
                                "layers of each stage, or full";
constexpr const char *kMasks =
    "no mask is stored: attention is told where documents begin; leave it out";
constexpr const char *kLooksAlways = "mtc looks at loss and gradients of every "
                                     "step, before its update, and ends "
                                     "with exit code 15; leave it out";
constexpr const char *kNoChoice = "mtc has no such choice; leave it out";
constexpr const char *kOfTheCorpus =
    "texts become a corpus before the run: give it to mtc data tokenize";
constexpr const char *kOfTheSpec =
    "it is of the spec that mtc compile reads (mtc help spec)";
constexpr const char *kSumsAreFp32 =
    "sums of gradients are in fp32 unless mtc compile --grad-dtype says "
    "otherwise; leave it out";

// Names are those of its arguments.py. Synonyms are in the tables of keys.
constexpr MegatronName kNames[] = {
    {"account-for-embedding-in-pipeline-split", kBoth, nullptr},
    {"account-for-loss-in-pipeline-split", kBoth, nullptr},
    {"accumulate-allreduce-grads-in-fp32", kSumsAreFp32, kSumsAreFp32},
    {"attention-backend", nullptr, kNoChoice},
    {"attention-dropout", nullptr,
     "it is of the spec: [dropout] attention, or mtc compile --set "
     "model.dropout.attention=0.1"},
    {"bf16", nullptr, kCompiled},
    {"calculate-per-token-loss", nullptr, kCompiled},
    {"check-for-nan-in-loss-and-grad", nullptr, kLooksAlways, Behind::none},
    {"ckpt-format", nullptr,
     "checkpoints have one format (docs/checkpoints.md); leave it out"},
    {"ckpt-step", nullptr,
     "give --load DIR/step-00001000 for the checkpoint of step 1000"},
    {"context-parallel-size", nullptr, kCompiled},
    {"cp-comm-type", "--cp gathers keys and values; leave it out", nullptr},
    {"create-attention-mask-in-dataloader", nullptr, kMasks},
    {"data-parallel-size", "give --dp", nullptr},
    {"ddp-num-buckets", "give --bucket-size, the elements of one", nullptr},
    {"decoupled-lr", nullptr,
     "compile with an [[override]] that puts embed.* and head.* into a group, "
     "and give --groups \"NAME: lr RATE\""},
    {"decoupled-min-lr", nullptr,
     "compile with an [[override]] that puts embed.* and head.* into a group, "
     "and give --groups \"NAME: lr RATE, min_lr RATE\""},
    {"distributed-backend", nullptr,
     "ranks talk as --comm says: shm, threads or mpi"},
    {"distributed-timeout-minutes", nullptr,
     "give --timeout SECONDS, and of ranks that start late --rdzv-timeout "
     "SECONDS"},
    {"eod-mask-loss", nullptr, kCompiled},
    {"exit-on-missing-checkpoint", nullptr,
     "--load DIR ends where there is none, --resume begins anew; leave it out",
     Behind::none},
    {"exit-signal-handler", nullptr,
     "SIGTERM always ends a run behind the step in progress, with a checkpoint "
     "where there is --checkpoints DIR; leave it out",
     Behind::none},
    {"expert-model-parallel-size", nullptr,
     "mtc has no mixtures of experts; leave it out"},
    {"ffn-hidden-size", kKeyOfTheSpec, kOfTheSpec},
    {"finetune", nullptr, "mtc run --init-from FILE begins with weights alone"},
    {"fp16", nullptr, kCompiled},
    {"grad-reduce-in-bf16", nullptr, kCompiled},
    {"hidden-dropout", nullptr,
     "it is of the spec: [dropout] hidden and embedding, or mtc compile --set "
     "model.dropout.hidden=0.1"},
    {"hidden-size", kKeyOfTheSpec, kOfTheSpec},
    {"init-method-std", nullptr,
     "it is of the spec: [init] std, or mtc compile --set model.init.std=0.02"},
    {"kv-channels", nullptr, kOfTheSpec},
    {"log-throughput", nullptr, "the log has it in any case; leave it out"},
    {"max-position-embeddings", nullptr, kOfTheSpec},
    {"merge-file", nullptr, kOfTheCorpus},
    {"micro-batch-size", nullptr, kCompiled},
    {"mock-data", nullptr,
     "--data names tokens; any file does with --data-type u8"},
    {"no-check-for-nan-in-loss-and-grad", nullptr, kLooksAlways, Behind::none},
    {"no-create-attention-mask-in-dataloader", nullptr, kMasks},
    {"no-load-optim", nullptr,
     "mtc run --init-from FILE begins with weights alone"},
    {"no-load-rng", nullptr,
     "the order of samples and masks follow from seed and step; leave it out"},
    {"normalization", nullptr, kOfTheSpec},
    {"num-attention-heads", kKeyOfTheSpec, kOfTheSpec},
    {"num-layers", kKeyOfTheSpec, kOfTheSpec},
    {"num-layers-per-virtual-pipeline-stage",
     "give --chunks, the layers of a stage divided by these", nullptr},
    {"num-query-groups", nullptr, kOfTheSpec},
    {"num-workers", nullptr, kNoChoice},
    {"optimizer", nullptr,
     "it is compiled into the bundle: give it to mtc compile, where "
     "Megatron-LM's adam is adamw"},
    {"overlap-grad-reduce", nullptr, kCompiled},
    {"overlap-param-gather", nullptr, kCompiled},
    {"override-opt_param-scheduler", nullptr,
     "a run that goes on has the recipe that it is given; leave it out"},
    {"pipeline-model-parallel-size", nullptr, kCompiled},
    {"profile-ranks", nullptr, "--profile FILE has all ranks; leave it out",
     Behind::any},
    {"recompute-granularity", nullptr, kCompiled},
    {"recompute-method", kLayers, nullptr},
    {"recompute-modules", "give --recompute selective, or ops=FAMILY,...",
     nullptr},
    {"recompute-num-layers", kLayers, nullptr},
    {"reset-attention-mask", nullptr, kCompiled},
    {"reset-position-ids", nullptr, kCompiled},
    {"seq-length", nullptr,
     "give it to mtc compile, and --seq to mtc run where the bundle has "
     "several lengths"},
    {"sequence-parallel", nullptr, kCompiled},
    {"skip-train", nullptr, "mtc run --eval BATCHES trains nothing",
     Behind::none},
    {"tensor-model-parallel-size", nullptr, kCompiled},
    {"test-data-path", nullptr,
     "behind the run, mtc run --load DIR --eval BATCHES --eval-data DATA"},
    {"tokenizer-type", nullptr, kOfTheCorpus},
    {"train-data-path", nullptr, "give --data DATA, without --split"},
    {"transformer-impl", nullptr, kNoChoice},
    {"untie-embeddings-and-output-weights", nullptr, kOfTheSpec},
    {"use-checkpoint-opt_param-scheduler", nullptr,
     "a run that goes on has the recipe that it is given"},
    {"use-distributed-optimizer", nullptr, kCompiled},
    {"use-flash-attn", nullptr, kNoChoice},
    {"use-mcore-models", nullptr, kNoChoice},
    {"valid-data-path", nullptr,
     "give --eval-data DATA, which is read in order from its start"},
    {"vocab-file", nullptr, kOfTheCorpus},
};

std::span<const MegatronName> megatronNames() { return kNames; }

std::string_view megatronAdvice(std::string_view key) {
  auto isSame = [](char a, char b) { return a == b || (a == '-' && b == '_'); };
  for (const MegatronName &each : kNames) {
    std::string_view name = each.name;
    if (each.inCompile &&
        std::equal(name.begin(), name.end(), key.begin(), key.end(), isSame))
      return each.inCompile;
  }
  return "";
}

} // namespace mtc::models
