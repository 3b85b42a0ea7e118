//===- MtcAttrs.td - what a whole module was compiled for -------------------===//
#ifndef MTC_MTC_ATTRS
#define MTC_MTC_ATTRS

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Mtc_Dialect : Dialect {
  let name = "mtc";
  let cppNamespace = "::mtc";
  let summary = "what a whole module was compiled for";
  let description = [{
    No level of its own: attributes of the module that are there at every level,
    from import to the machine code. `mtc.config` holds the model's sizes and the
    strategy, `mtc.phase` names the phase whose result the module is.

    ```mlir
    module attributes {
      mtc.phase = "import",
      mtc.config = #mtc.config<
        model = <name = "gpt2-nano", layers = 4, hidden = 64, vocab = 211, padded_vocab = 256>,
        mesh = <tp = 2, cp = 1, dp = 2, pp = 2>,
        batch = <micro = 2, microbatches = 4, global = 16, sequence = 32>,
        precision = bf16,
        schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1, 3]>,
        optimizer = <kind = adamw, zero = 1, bucket_size = 40000000>,
        target = <device = "cpu", isa = "x86-64-v4-bf16", threads = 1, memory = 8589934592>>} {}
    ```

    Without `recompute`, `overlap`, `isa` or `memory` there is no such thing; no other field
    has a default: what a strategy leaves open is settled before the
    importer writes it here. `mtc::configOf` is the one place that reads it.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{ void registerAttributes(); }];
}

def Mtc_Precision : I32EnumAttr<"Precision", "what a model computes with", [
    I32EnumAttrCase<"F32", 0, "f32">, I32EnumAttrCase<"BF16", 1, "bf16">,
    I32EnumAttrCase<"FP16", 2, "fp16">]> {
  let description = [{
    The types of every kind of value follow from it: `DtypePolicy.h` and the table
    of [numerics](../numerics.md).
  }];
  let cppNamespace = "::mtc";
  let genSpecializedAttr = 0;
}

class Mtc_Attr<string name, string attrMnemonic> : AttrDef<Mtc_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1; // ConfigText.cpp
  let genVerifyDecl = 1;
}

def Mtc_Model : Mtc_Attr<"Model", "model"> {
  let summary = "the name and the sizes of the model";
  let description = [{
    Those that phases or the runtime ask for; the others are in the ops.

    Example: `#mtc.model<name = "gpt2-nano", layers = 4, hidden = 64, vocab = 211, padded_vocab = 256>`

    **Constraints:** sizes are at least 1, layers 0 to 2^20; the padded vocabulary
    is not smaller than the vocabulary.
  }];
  let parameters = (ins StringRefParameter<"for people">:$name,
      AttrParameter<"int64_t", "layers, without embedding and head">:$layers,
      AttrParameter<"int64_t", "size of the residual stream">:$hidden,
      AttrParameter<"int64_t", "tokens that may occur">:$vocab,
      AttrParameter<"int64_t", "rows of the table of embeddings">:$padded_vocab);
}

def Mtc_Batch : Mtc_Attr<"Batch", "batch"> {
  let summary = "the samples of a step";
  let description = [{
    Example: `#mtc.batch<micro = 2, microbatches = 4, global = 16, sequence = 32>`

    **Constraints:** numbers are at least 1. `mtc.config` demands that `global` is
    `micro` times `microbatches` times the replicas of its mesh.
  }];
  let parameters = (ins AttrParameter<"int64_t", "samples of one replica and microbatch">:$micro,
      AttrParameter<"int64_t", "of a step">:$microbatches,
      AttrParameter<"int64_t", "samples of a step, of all replicas">:$global,
      AttrParameter<"int64_t", "tokens of a sample">:$sequence);
}

def Mtc_Schedule : Mtc_Attr<"Schedule", "schedule"> {
  let summary = "which stage has what, and in which order it runs";
  let description = [{
    `name` is one of `mtc help schedules`. Virtual stages are in the order of the
    model. With chunks, `group` microbatches go through one before the next has its
    turn. `slots` are those of a schedule that somebody wrote, a line per stage in
    the notation of [schedules](../schedules.md); then the name is for people.

    Example: `#mtc.schedule<name = "1f1b", chunks = 1, layers_per_stage = [1, 3]>`
    Example: `#mtc.schedule<name = "interleaved-1f1b", chunks = 2, layers_per_stage = [1, 1, 1, 1], group = 2>`
    Example: `#mtc.schedule<name = "mine", chunks = 1, layers_per_stage = [1, 3], slots = ["F0 F1 B0 B1", "F0 B0 F1 B1"]>`

    **Constraints:** there is a name and at least one chunk; a group has at least
    one microbatch.
  }];
  let parameters = (ins StringRefParameter<"of the entry train">:$name,
      AttrParameter<"int64_t", "virtual stages of a stage">:$chunks,
      AttrParameter<"::mlir::DenseI64ArrayAttr", "per virtual stage">:$layers_per_stage,
      OptionalParameter<"std::optional<int64_t>", "microbatches of a group of interleaving">:$group,
      OptionalParameter<"::mlir::ArrayAttr", "of a schedule that is no name's">:$slots);
}

def Mtc_OptimizerKind : I32EnumAttr<"OptimizerKind", "the arithmetic of the update", [
    I32EnumAttrCase<"AdamW", 0, "adamw">, I32EnumAttrCase<"AdamL2", 1, "adam_l2">,
    I32EnumAttrCase<"Sgd", 2, "sgd">, I32EnumAttrCase<"Nesterov", 3, "nesterov">,
    I32EnumAttrCase<"Lion", 4, "lion">]> {
  let description = [{
    Each has an op of `tfm` (`dialects/tfm/Optimizers.h`).
  }];
  let cppNamespace = "::mtc";
  let genSpecializedAttr = 0;
}
def Mtc_FlatLayout : I32EnumAttr<"FlatLayout", "how parameters lie in flat buckets that replicas share", [
    I32EnumAttrCase<"Aligned", 0, "aligned">, I32EnumAttrCase<"Dense", 1, "dense">]> {
  let description = [{
    `aligned`: each begins at a multiple of 64 elements, a bucket ends at one of
    lcm(dp, 128). `dense`: they lie side by side, a bucket ends at a multiple of dp.
  }];
  let cppNamespace = "::mtc";
  let genSpecializedAttr = 0;
}
def Mtc_Optimizer : Mtc_Attr<"Optimizer", "optimizer"> {
  let summary = "the update: its arithmetic, how gradients are reduced, and who updates";
  let description = [{
    Example: `#mtc.optimizer<kind = adamw, zero = 1, bucket_size = 40000000>`
    Example: `#mtc.optimizer<kind = adamw, zero = 1, bucket_size = 40000000, layout = dense>`
    Example: `#mtc.optimizer<kind = adamw, zero = 1, bucket_size = 40000000, grad_dtype = bf16>`
    Example: `#mtc.optimizer<kind = lion, zero = 0, bucket_size = 40000000, groups = ["embeddings", "head"]>`

    **Constraints:** `zero` is 0 to 2, a bucket has at least 1 element; `grad_dtype` is
    f32 or what the model computes in (`#mtc.config`); at most 15 groups, each name once.
  }];
  let parameters = (ins AttrParameter<"::mtc::OptimizerKind", "of the op that updates">:$kind,
      AttrParameter<"int64_t", "what is split over dp; 1: the optimizer's state, 2: sums of gradients, too">:$zero,
      AttrParameter<"int64_t", "elements after which a bucket is full">:$bucket_size,
      OptionalParameter<"std::optional<::mtc::FlatLayout>", "how parameters lie in a bucket; aligned where it lacks">:$layout,
      OptionalParameter<"std::optional<::mtc::Precision>", "what gradients of parameters that have main ones are summed in; f32 where it lacks">:$grad_dtype,
      OptionalParameter<"::mlir::ArrayAttr", "names of groups of parameters (#tfm.param), which have a learning rate and a decay of their own">:$groups);
  let extraClassDeclaration = [{
    /// Which of the step's values parameters of a group are updated with: 0 where
    /// `group` is null, else its place in `groups` from 1 on; none if it is not one.
    std::optional<int64_t> groupIndex(::mlir::StringAttr group) const;
  }];
}

def Mtc_OpFamily : I32EnumAttr<"OpFamily", "ops of tfm of one kind", [
    I32EnumAttrCase<"Attention", 0, "attention">, I32EnumAttrCase<"Dropout", 1, "dropout">,
    I32EnumAttrCase<"Einsum", 2, "einsum">, I32EnumAttrCase<"Embedding", 3, "embedding">,
    I32EnumAttrCase<"Loss", 4, "loss">, I32EnumAttrCase<"Norm", 5, "norm">,
    I32EnumAttrCase<"Optimizer", 6, "optimizer">, I32EnumAttrCase<"Pointwise", 7, "pointwise">,
    I32EnumAttrCase<"Shape", 8, "shape">, I32EnumAttrCase<"Structure", 9, "structure">]> {
  let description = [{
    Each has a file in `passes/families`.
  }];
  let cppNamespace = "::mtc";
  let genSpecializedAttr = 0;
}
def Mtc_RecomputePolicy : I32EnumAttr<"RecomputePolicy", "which values are computed again", [
    I32EnumAttrCase<"Selective", 0, "selective">, I32EnumAttrCase<"Full", 1, "full">,
    I32EnumAttrCase<"Layers", 2, "layers">, I32EnumAttrCase<"Ops", 3, "ops">,
    I32EnumAttrCase<"Microbatches", 4, "microbatches">]> {
  let description = [{
    Of transformer layers: what attention makes, all but the layer's input, the
    same in the first layers of each stage, what ops of some families make, all but
    the input of some of the microbatches in flight.
  }];
  let cppNamespace = "::mtc";
  let genSpecializedAttr = 0;
}
def Mtc_Recompute : Mtc_Attr<"Recompute", "recompute"> {
  let summary = "what the backward computes again instead of saving it";
  let description = [{
    Read by `plan-recompute`; a configuration without it computes nothing again.
    `layers` and `microbatches` are there with the policies of their names, `families`
    with `ops`.

    Examples: `#mtc.recompute<policy = full>`,
    `#mtc.recompute<policy = layers, layers = 2>`,
    `#mtc.recompute<policy = ops, families = ["attention", "norm"]>`,
    `#mtc.recompute<policy = microbatches, microbatches = 2>`

    **Constraints:** layers and microbatches are 1 to 2^20; families are names of op
    families, each once.
  }];
  let parameters = (ins AttrParameter<"::mtc::RecomputePolicy", "which values">:$policy,
      OptionalParameter<"std::optional<int64_t>", "the first layers of each stage">:$layers,
      OptionalParameter<"::mlir::ArrayAttr", "names of op families">:$families,
      OptionalParameter<"std::optional<int64_t>", "that many in flight on a stage">:$microbatches);
  let extraClassDeclaration = [{
    /// Whether `families` names this one.
    bool names(::mtc::OpFamily family) const;
  }];
}

def Mtc_Epilogue : I32EnumAttr<"Epilogue", "what is done within a product", [
    I32EnumAttrCase<"Bias", 0, "bias">, I32EnumAttrCase<"Gelu", 1, "gelu">,
    I32EnumAttrCase<"Pointwise", 2, "pointwise">]> {
  let description = [{
    `bias`: a number for each column is added. `gelu`: the GELU of the sum is stored, and the sum
    itself where the backward needs it. Both are of GPUs, in front of the rounding. `pointwise`: a
    kernel behind a product of a cpu that computes each element by itself runs on blocks of the
    result as soon as they are made; it rounds as a kernel does.
  }];
  let cppNamespace = "::mtc";
  let genSpecializedAttr = 0;
}

def Mtc_GemmChoice : I32EnumAttr<"GemmChoice", "how products of a cpu are computed", [
    I32EnumAttrCase<"Own", 0, "own">]> {
  let description = [{
    `own`: by the runtime's kernels, whose bits do not depend on threads.
  }];
  let cppNamespace = "::mtc";
  let genSpecializedAttr = 0;
}

def Mtc_Prepack : I32EnumAttr<"Prepack", "which weights of products are packed once a step", [
    I32EnumAttrCase<"Auto", 0, "auto">, I32EnumAttrCase<"Always", 1, "always">]> {
  let description = [{
    `auto`: those that many microbatches read, or a table of products says; `always`: all that can be.
  }];
  let cppNamespace = "::mtc";
  let genSpecializedAttr = 0;
}

def Mtc_Target : Mtc_Attr<"Target", "target"> {
  let summary = "the device of a rank";
  let description = [{
    `device` is `cpu` or GPUs of some architectures, `cuda:sm_80,sm_90a`, oldest first. Without `isa` nobody
    has chosen an instruction set yet: `mtc compile` takes the best of its machine
    and writes it here. Without `memory` there is no limit, without `ranks_per_host` nobody said on which hosts ranks lie.

    Without `streams` work is in one queue on a cpu, and in two on a GPU; two on a cpu are its threads that
    compute and one for collectives. `epilogues` are what is done within products, by the names of `Epilogue`:
    of a GPU or of a cpu; nothing where it lacks. `gemm` is how products of a cpu are computed; by
    oneDNN where it lacks. `prepack` says which weights are packed for them once a step, in memory of their own;
    none where it lacks.

    Example: `#mtc.target<device = "cpu", isa = "x86-64-v4", threads = 1, memory = 8589934592>`
    Example: `#mtc.target<device = "cpu", threads = 1, streams = 2>`
    Example: `#mtc.target<device = "cuda:sm_90", threads = 1, epilogues = ["bias", "gelu"]>`

    Example: `#mtc.target<device = "cpu", threads = 2, epilogues = ["pointwise"], gemm = own>`

    Example: `#mtc.target<device = "cpu", threads = 2, gemm = own, prepack = auto>`

    **Constraints:** the strings are not empty; the numbers are at least 1; there are at most two streams,
    and a GPU says none; `epilogues` are those of the device, each once; `gemm` is of a cpu, `prepack` of products by `own`.
  }];
  let parameters = (ins StringRefParameter<"what runs kernels">:$device,
      OptionalParameter<"::mlir::StringAttr", "instruction set of the processor">:$isa,
      AttrParameter<"int64_t", "of a rank">:$threads,
      OptionalParameter<"std::optional<int64_t>", "queues of a cpu rank that run beside each other">:$streams,
      OptionalParameter<"std::optional<int64_t>", "bytes that a rank may take">:$memory,
                        OptionalParameter<"std::optional<int64_t>", "ranks of one host">:$ranks_per_host,
                        OptionalParameter<"::mlir::ArrayAttr", "names of what is done within products; nothing where it lacks">:$epilogues,
                        OptionalParameter<"std::optional<::mtc::GemmChoice>", "how products of a cpu are computed; by oneDNN where it lacks">:$gemm,
                        OptionalParameter<"std::optional<::mtc::Prepack>", "weights that are packed once a step; none where it lacks">:$prepack);
  let extraClassDeclaration = [{
    /// Whether `epilogues` names this one.
    bool hasEpilogue(::mtc::Epilogue kind) const;
  }];
}

def Mtc_Overlap : I32EnumAttr<"Overlap", "what runs beside computations", [
    I32EnumAttrCase<"P2p", 0, "p2p">, I32EnumAttrCase<"GradReduce", 1, "grad-reduce">,
    I32EnumAttrCase<"ParamGather", 2, "param-gather">]> {
  let description = [{
    `p2p`: transfers between stages are posted and waited for apart. `grad-reduce`: the
    gradients of a bucket are summed over ranks behind its last one, in the backward of the
    last microbatch. `param-gather`: the parameters of a bucket, of which each replica
    updates a shard, are gathered before their first reader of the next step.
  }];
  let cppNamespace = "::mtc";
  let genSpecializedAttr = 0;
}

def Mtc_Config : Mtc_Attr<"Config", "config"> {
  let summary = "the model's sizes and the strategy";
  let description = [{
    The module attribute `mtc.config`. The importer writes it, and later phases run
    from the IR alone.

    Example: `#mtc.config<model = <name = "m", layers = 4, hidden = 64, vocab = 211, padded_vocab = 256>, mesh = <tp = 2, cp = 1, dp = 2, pp = 1>, batch = <micro = 2, microbatches = 4, global = 16, sequence = 32>, precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [4]>, optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>`

    **Constraints:** the mesh has every axis once, with 1 to 65536 ranks, and
    `order = "tp-cp-pp-dp"` where ranks count through them in another order than they
    are listed in, tp first, and `kv = 2` where so many ranks in a row along tp share
    heads of keys and values, a divisor of tp; the global batch is that of all
    microbatches and replicas; `overlap` is a list of names like `["p2p"]`, each once.
  }];
  let parameters = (ins "::mtc::ModelAttr":$model, AttrParameter<"::mtc::Mesh", "ranks along each axis">:$mesh,
      "::mtc::BatchAttr":$batch, AttrParameter<"::mtc::Precision", "what it computes with">:$precision,
      "::mtc::ScheduleAttr":$schedule, "::mtc::OptimizerAttr":$optimizer,
      "::mtc::TargetAttr":$target,
      OptionalParameter<"::mtc::RecomputeAttr", "what is computed again; nothing where it lacks">:$recompute,
      OptionalParameter<"::mlir::ArrayAttr", "names of what runs beside computations; nothing where it lacks">:$overlap);
  let extraClassDeclaration = [{
    /// ZeRO-1 or 2 with more than one replica to share the optimizer's state.
    bool shardsOptimizer() const;
    /// Whether `overlap` names this one.
    bool overlaps(::mtc::Overlap kind) const;
    /// ZeRO-2 with more than one replica to share the sums of gradients.
    bool shardsGradients() const;
    /// Backward fragments sum gradients over ranks: those of each microbatch
    /// (ZeRO-2), or of the last one (`overlap`). A bucket is then of one fragment.
    bool reducesInBackward() const;
    /// How many of the microbatches in flight on a stage are computed again where
    /// others are not; 0 if there is no such difference.
    int64_t microbatchesComputedAgain() const {
      return getRecompute() ? getRecompute().getMicrobatches().value_or(0) : 0;
    }
    /// The type of each kind of value.
    ::mtc::DtypePolicy types() const;
    /// A copy for a processor with another instruction set.
    ::mtc::ConfigAttr withIsa(::llvm::StringRef isa) const;
  }];
}
#endif // MTC_MTC_ATTRS
