//===- foreign_options.cpp - options of Megatron-LM that mean other things ===//

#include "mtc/runtime/recipe_fields.h"

namespace mtc::runtime {
namespace {

constexpr const char *kCompiled =
    "it is compiled into the bundle: give it to mtc compile";

constexpr const char *kNoChoice = "mtc has no such choice; leave it out";

constexpr const char *kOfTheSpec =
    "it is of the spec that mtc compile reads (mtc help spec)";

constexpr const char *kOfTheCorpus =
    "texts become a corpus before the run: give it to mtc data tokenize";

const ForeignOption kForeign[] = {
    {"optimizer", "it is compiled into the bundle: give it to mtc compile, "
                  "where Megatron-LM's adam is adamw"},
    {"decoupled-lr",
     "compile with an [[override]] that puts embed.* and head.* into a group, "
     "and give --groups \"NAME: lr RATE\""},
    {"decoupled-min-lr",
     "compile with an [[override]] that puts embed.* and head.* into a group, "
     "and give --groups \"NAME: lr RATE, min_lr RATE\""},
    {"micro-batch-size", kCompiled},
    {"num-layers-per-virtual-pipeline-stage",
     "it is compiled into the bundle: give --chunks, the parts of a stage, to "
     "mtc compile"},
    {"expert-model-parallel-size", "mtc has no mixtures of experts; leave it "
                                   "out"},
    {"seq-length", "give it to mtc compile, and --seq to mtc run where the "
                   "bundle has several lengths"},
    {"tensor-model-parallel-size", kCompiled},
    {"pipeline-model-parallel-size", kCompiled},
    {"context-parallel-size", kCompiled},
    {"sequence-parallel", kCompiled},
    {"use-distributed-optimizer",
     "it is compiled into the bundle: give --zero 1 to mtc compile"},
    {"overlap-grad-reduce", "it is compiled into the bundle: give --overlap "
                            "grad-reduce to mtc compile"},
    {"overlap-param-gather", "it is compiled into the bundle: give --overlap "
                             "param-gather to mtc compile"},
    {"bf16",
     "it is compiled into the bundle: give --dtype bf16 to mtc compile"},
    {"fp16",
     "it is compiled into the bundle: give --dtype fp16 to mtc compile"},
    {"grad-reduce-in-bf16", kCompiled},
    {"accumulate-allreduce-grads-in-fp32",
     "sums of gradients are in fp32 unless mtc compile --grad-dtype says "
     "otherwise; leave it out"},
    {"use-flash-attn", kNoChoice},
    {"attention-backend", kNoChoice},
    {"transformer-impl", kNoChoice},
    {"use-mcore-models", kNoChoice},
    {"distributed-backend", "ranks talk as --comm says: shm, threads or mpi"},
    {"num-workers", kNoChoice},
    {"no-load-rng", "the order of samples and masks follow from seed and step; "
                    "leave it out"},
    {"ckpt-format", "checkpoints have one format (docs/checkpoints.md); leave "
                    "it out"},
    {"log-throughput", "the log has it in any case; leave it out"},
    {"mock-data", "--data names tokens; any file does with --data-type u8"},
    {"recompute-granularity", "it is compiled into the bundle: give "
                              "--recompute full or selective to mtc compile"},
    {"num-layers", kOfTheSpec},
    {"hidden-size", kOfTheSpec},
    {"ffn-hidden-size", kOfTheSpec},
    {"num-attention-heads", kOfTheSpec},
    {"max-position-embeddings", kOfTheSpec},
    {"kv-channels", kOfTheSpec},
    {"num-query-groups", kOfTheSpec},
    {"normalization", kOfTheSpec},
    {"untie-embeddings-and-output-weights", kOfTheSpec},
    {"tokenizer-type", kOfTheCorpus},
    {"vocab-file", kOfTheCorpus},
    {"merge-file", kOfTheCorpus},
    {"hidden-dropout", "it is of the spec: [dropout] hidden and embedding, or "
                       "mtc compile --set model.dropout.hidden=0.1"},
    {"attention-dropout", "it is of the spec: [dropout] attention, or mtc "
                          "compile --set model.dropout.attention=0.1"},
    {"init-method-std",
     "it is of the spec: [init] std, or mtc compile --set model.init.std=0.02"},
    {"finetune", "mtc run --init-from FILE begins with weights alone"},
    {"no-load-optim", "mtc run --init-from FILE begins with weights alone"},
    {"use-checkpoint-opt_param-scheduler",
     "a run that goes on has the recipe that it is given"},
    {"override-opt_param-scheduler",
     "a run that goes on has the recipe that it is given; leave it out"},
};

} // namespace

std::span<const ForeignOption> foreignOptions() { return kForeign; }

} // namespace mtc::runtime
