//===- Passes.td - the passes of mtc, in the order in which they run --------===//
//
// One pass has one name: def CutStages, flag --cut-stages, file CutStages.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES
#define MTC_PASSES

include "mlir/Pass/PassBase.td"

class MtcPass<string flag> : Pass<flag, "::mlir::ModuleOp">;

//===--- model ---------------------------------------------------------------===//

def Differentiate : MtcPass<"differentiate"> {
  let summary = "forward to forward + backward, by per-op gradient rules";
  let description = [{
    Appends the backward of `@microbatch` after its forward, seeded with the
    loss, and returns one gradient per use of each parameter. Values that the
    backward reads are saved (`tfm.save`, `tfm.restore`); cheap ones are computed
    again. Removes `tfm.stop_gradient`.

    Input: `%u = tfm.activation gelu %x`, output also
    `%x2 = tfm.restore %s`, `%dx = tfm.activation_grad gelu %x2, %du`.
  }];
}
def VerifyTraining : MtcPass<"verify-training"> {
  let summary = "checks what differentiate promises";
  let description = [{
    Every parameter use has a gradient of its shape; backward ops read forward
    values only through restore; every op has a layer and a phase.
  }];
}

//===--- sharding --------------------------------------------------------------===//

def AnnotateShardings : MtcPass<"annotate-shardings"> {
  let summary = "logical axes of parameters and inputs to mesh axes";
  let description = [{
    Reads the module's `dist.mesh`, `dist.rules` (a dictionary logical axis ->
    mesh axis) and `dist.overrides` (an array of dictionaries {pattern, axis,
    mesh}), and writes `dist.sharding` and `dist.layout` (column, row, vocab,
    replicated) on every parameter and input of `@microbatch`.

    Input: `%w {tfm.param = #tfm.param<name = "layers.0.mlp.up.weight", axes = ["embed", "ffn"], ...>}`,
    output also `{dist.sharding = #dist.sharding<[{}, {"tp"} ]>, dist.layout = "column"}`.
  }];
  let dependentDialects = ["::mtc::dist::DistDialect", "::mtc::tfm::TfmDialect"];
  let options = [
    Option<"mesh", "mesh", "std::string", "\"\"", "axes and sizes, for tests: dp=2,tp=4">,
    Option<"rules", "rules", "std::string", "\"\"", "logical to mesh axes, for tests: ffn=tp,batch=dp">];
}
def PropagateShardings : MtcPass<"propagate-shardings"> {
  let summary = "shardings of every value, forward and backward";
  let description = [{
    Factor propagation from parameters and inputs, each mesh axis on its own;
    partial sums stay partial as long as a minimum cut says that this moves
    fewer bytes (docs/sharding.md). Writes `dist.shardings` on every op: what the
    op *produces*; `dist.wants` on ops and the return: per operand what it needs;
    `dist.sharding` on results. Sums are flattened and split on the way.
  }];
  let dependentDialects = ["::mtc::dist::DistDialect", "::mtc::tfm::TfmDialect"];
}
def InsertCollectives : MtcPass<"insert-collectives"> {
  let summary = "reshards where what is produced is not what is wanted";
  let description = [{
    One `dist.reshard` per value and wish, placed right after the producer for
    partial values and before the first user otherwise; gradients of parameters
    and the loss stay partial over dp until the end of the step.
  }];
  let dependentDialects = ["::mtc::dist::DistDialect", "::mtc::tfm::TfmDialect"];
}
def Partition : MtcPass<"partition"> {
  let summary = "global to local shapes; reshards become collectives";
  let description = [{
    Input: `dist.reshard %y from <[{}, {} ], partial = {"tp"}> to <[{}, {} ]>`,
    output: `dist.all_reduce sum %y over "tp"`. Ops that use an index of a split
    dimension get `dist.index_axis` and `dist.index_stride` (its local size):
    coordinate·stride is to be added to a local index; for dropout also
    `dist.index_dim`. `dist.global_shape` on arguments and `dist.global_shapes` on
    ops keep the global shapes.
  }];
  let dependentDialects = ["::mtc::dist::DistDialect", "::mtc::tfm::TfmDialect"];
}
def VerifyPartitioned : MtcPass<"verify-partitioned"> {
  let summary = "checks that local shapes, shardings and collectives agree";
  let description = [{
    Walks the function with the state of each value per mesh axis and refuses an
    op whose operands are not what its sharding rule needs: so a collective that
    is missing or doubled shows. Also local types against global shapes, index
    offsets, and gradients against their parameters.
  }];
  let dependentDialects = ["::mtc::dist::DistDialect", "::mtc::tfm::TfmDialect"];
}

//===--- pipeline ----------------------------------------------------------------===//

def CutStages : MtcPass<"cut-stages"> {
  let summary = "layers to stages; one function per stage and phase";
  let description = [{
    Splits `@microbatch` into `@stageN_fwd`, `@stageN_bwd` and, for the `eval`
    entry, `@stageN_eval`. Results that the next stage reads are sent;
    `tfm.save` becomes a value kept in the activation slot.
  }];
}
def BuildSchedule : MtcPass<"build-schedule"> {
  let summary = "per stage the list of compute slots, for each entry";
  let description = [{
    Writes `pipe.schedule` ops; checks them (schedules.md section 2).

    Output: `pipe.schedule @train stages 2 chunks 1 microbatches 4 ["F0 F1 B0 F2 B1 F3 B2 B3", "F0 B0 F1 B1 F2 B2 F3 B3"]`
  }];
}
def ExpandSchedule : MtcPass<"expand-schedule"> {
  let summary = "slots to timelines: sends, receives, buffers";
  let description = [{
    Stamps, sorts and projects (docs/schedules.md): exchanges are placed and paired
    and every value gets a slot. Writes `pipe.timeline` ops.
  }];
}

//===--- plan ----------------------------------------------------------------------===//

def BucketGradients : MtcPass<"bucket-gradients"> {
  let summary = "one program per stage; parameters and gradients in flat buckets";
  let description = [{
    Moves the fragments and timelines of each stage into an `rt.program` and lays
    its parameters out in buckets: Megatron's order, sizes and padding. Gradients
    have the layout of their parameters. Every further use of a tied parameter on
    the stage gets a bucket of accumulators (`second_use_of`), because sums of
    uses are added after the reduction.

    Input: `pipe.param "final_norm.scale" : tensor<64xf32>` in `@stage1_fwd`,
    output: `rt.bucket 0 elements 128 unpadded 128 shard 128 zero false second_use_of -1`
    and `rt.param "final_norm.scale" bucket 0 start 64 shape [64] local [64] {...}`
    in `rt.program @stage1`.
  }];
}
def ShardOptimizer : MtcPass<"shard-optimizer"> {
  let summary = "gradient reduction and the optimizer's shards";
  let description = [{
    Gives each dp rank its shard of every bucket (all of it without ZeRO), and
    builds the update fragments `reduce` and `apply` of each stage:
    reduce-scatter or all-reduce over dp, tied uses added, global norm, AdamW on
    the shard, all-gather.

    Input: `rt.bucket 0 elements 128 unpadded 128 shard 128 zero false second_use_of -1`,
    output under ZeRO-1 with dp = 2: `... shard 64 zero true ...` and in
    `@stage0_reduce`: `rt.collective reduce_scatter %g group "dp" count 64 {origin = "gradient"}`.
  }];
}
def FuseKernels : MtcPass<"fuse-kernels"> {
  let summary = "clusters of pointwise and row-wise ops to kernels";
  let description = [{
    Writes `rt.collectives` on each fragment: kind, group, count and `serves` of its
    collectives in order, for verify-plan to compare with what is left of them.
    Greedy, in program order, never across a layer boundary; contractions become
    `rt.gemm`, attention `rt.attention`, collectives `rt.collective`. Equal
    kernels are shared.
  }];
}
def AssignStreams : MtcPass<"assign-streams"> {
  let summary = "collectives to a stream of their own, ordered by events";
  let description = [{
    On a target with more than one stream (cuda: 2) collectives run on stream 1,
    all else on stream 0. An event before a collective says that its operand is
    whole, one after it that its result is; the wait for that stands before the
    first op that touches the buffer, so that ops between overlap with the
    collective. A fragment ends with nothing in flight. A cpu rank has one stream
    and the pass changes nothing.

    Input:
    ```
    %s = rt.collective all_reduce %y group "tp" count 512 : (tensor<512xf32>) -> tensor<512xf32>
    %g = rt.gemm %a, %b m 8 n 8 k 8 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    ```
    output:
    ```
    rt.record event 0 stream 0
    rt.wait event 0 stream 1
    %s = rt.collective all_reduce %y group "tp" count 512 {stream = 1 : i64} : (tensor<512xf32>) -> tensor<512xf32>
    rt.record event 1 stream 1
    %g = rt.gemm %a, %b m 8 n 8 k 8 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    rt.wait event 1 stream 0
    ```
  }];
}
def PlanMemory : MtcPass<"plan-memory"> {
  let summary = "an offset for every value";
  let description = [{
    Liveness inside fragments gives workspace offsets (left edge, largest first);
    saved values, inputs and transfers live in slots; buckets in the params,
    grads and optimizer arenas. Writes `rt.view` and the arena sizes.
  }];
}
def VerifyPlan : MtcPass<"verify-plan"> {
  let summary = "refuses a plan that could hang, overlap or lose a parameter";
  let description = [{
    Collectives agree on every communicator; transfers pair; the wait-for graph
    of all ranks has no cycle, over two steps; views lie inside their arenas; no
    two live views overlap; every element of every parameter has exactly one
    owner.
  }];
}

//===--- codegen ---------------------------------------------------------------------===//

def CodegenKernels : MtcPass<"codegen-kernels"> {
  let summary = "rt.kernel to func + scf + vector (CPU)";
  let description = [{
    Knows rows, columns and scalar arithmetic, and no op of tfm. No fast-math:
    FMA where the body says so, reductions with a fixed lane tree.
  }];
  let options = [Option<"vectorWidth", "vector-width", "int64_t", "16", "fp32 lanes">,
                 Option<"nativeBf16", "native-bf16", "bool", "false",
                        "the target has an instruction that rounds f32 to bf16">];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::scf::SCFDialect",
      "::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
      "::mlir::memref::MemRefDialect"];
}
def LowerToLLVM : MtcPass<"lower-to-llvm"> {
  let summary = "fragments to LLVM: direct calls, immediate offsets";
  let description = [{
    An address is arena base + slot·stride + offset with immediates; kernels and
    runtime functions are called by name.
  }];
}
#endif // MTC_PASSES
