//===- Passes.td - the passes of mtc, in the order in which they run --------===//
//
// One pass has one name: def CutStages, flag --cut-stages, file CutStages.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES
#define MTC_PASSES

include "mlir/Pass/PassBase.td"

/// A phase: it reads the phase that the module has reached and writes its own.
class MtcPass<string flag> : Pass<flag, "::mlir::ModuleOp">;

/// A phase whose work is on one rt.program at a time: nested on the programs
/// (ProgramPhase.h), so that MLIR runs several side by side. The other phases
/// behind bucket-gradients read all programs: shard-optimizer counts the uses of
/// a parameter over the stages, verify-fragments and verify-plan compare what
/// stages send, share and wait for.
class ProgramPass<string flag> : MtcPass<flag>;

//===--- model ---------------------------------------------------------------===//

def Differentiate : MtcPass<"differentiate"> {
  let summary = "forward to forward + backward, by per-op gradient rules";
  let description = [{
    Training needs the gradient of the loss for every use of a parameter. Appends
    the backward of `@microbatch` after its forward, seeded with the loss, by the
    gradient rule of each op's family, and returns one gradient per use of each
    parameter. Values that the backward reads are saved (`tfm.save`,
    `tfm.restore`); cheap ones are computed again. Removes `tfm.stop_gradient`
    and `tfm.scale_gradient`, whose values are those of their operands.

    Input:
    ```mlir
    %v = tfm.activation gelu %u : tensor<2x32x256xf32>
    ```

    Output:
    ```mlir
    %s = tfm.save %u : tensor<2x32x256xf32>
    %v = tfm.activation gelu %u : tensor<2x32x256xf32>
    %u2 = tfm.restore %s : tensor<2x32x256xf32>
    %du = tfm.activation_grad gelu %u2, %dv : tensor<2x32x256xf32>
    ```
  }];
}
def PlanRecompute : MtcPass<"plan-recompute"> {
  let summary = "saved values to ones that the backward computes again";
  let description = [{
    What a layer saves lies in memory until the backward of its microbatch, once
    per microbatch that is on its way. The strategy's `recompute` names values
    that are not worth it: the backward computes them again, before its first
    reader in their layer, from what stays saved. Copies of forward ops name
    their originals (`tfm.recomputes`): later phases split both alike, so that
    numbers do not change. What another layer made is an input, and saved.
    Without `recompute` nothing changes.

    With `recompute = <policy = microbatches, ...>` `@microbatch` stays as it is, and a
    second function, `@microbatch_recompute`, is for the microbatches that are computed
    again. The phases up to cut-stages do with both the same.

    Input, with `recompute = <policy = full>`:
    ```mlir
    %s = tfm.save %v : tensor<2x32x256xf32>
    %y = tfm.einsum "bsf,fe->bse" %v, %w : tensor<2x32x256xf32>, tensor<256x64xf32> -> tensor<2x32x64xf32>
    %v2 = tfm.restore %s : tensor<2x32x256xf32>
    %dw = tfm.einsum "bsf,bse->fe" %v2, %dy : tensor<2x32x256xf32>, tensor<2x32x64xf32> -> tensor<256x64xf32>
    ```

    Output, where `%u2` is what the forward made `%v` of, computed again or
    restored:
    ```mlir
    %y = tfm.einsum "bsf,fe->bse" %v, %w : tensor<2x32x256xf32>, tensor<256x64xf32> -> tensor<2x32x64xf32>
    %v2 = tfm.activation gelu %u2 {tfm.recomputes = 38 : i64} : tensor<2x32x256xf32>
    %dw = tfm.einsum "bsf,bse->fe" %v2, %dy : tensor<2x32x256xf32>, tensor<2x32x64xf32> -> tensor<256x64xf32>
    ```
  }];
}
def VerifyTraining : MtcPass<"verify-training"> {
  let summary = "checks what differentiate promises";
  let description = [{
    A gradient rule that forgets a use gives wrong numbers and no error. Every
    parameter use has a gradient of its shape; backward ops read forward values
    only through `tfm.restore`; every op has a layer and a phase.

    Input: the result of `differentiate`. Rejected, because a backward op reads a
    forward value:
    ```mlir
    %v = tfm.activation gelu %u {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<2x32x256xf32>
    %du = tfm.activation_grad gelu %u, %dv {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<2x32x256xf32>
    ```

    Output: the same IR.
  }];
}

//===--- sharding --------------------------------------------------------------===//

def AnnotateShardings : MtcPass<"annotate-shardings"> {
  let summary = "logical axes of parameters and inputs to mesh axes";
  let description = [{
    The strategy's table is the only place that says which logical axis is split
    over which mesh axis; here it meets the parameters. Reads the module's
    `dist.mesh` and `dist.rules` (a dictionary logical axis -> mesh axis) and the
    `dist.rules` of an argument, which go before: what a strategy overrides for the
    parameters that a pattern matches, `import` writes there. Writes
    `dist.sharding` on every parameter and input of `@microbatch`: the last
    dimension of a weight split is column-parallel, the first row-parallel. An op of
    one result that names the logical axes of its dimensions (`tfm.axes`), as a
    weight whose heads `tfm.repeat` repeats, gets `dist.shardings` by the same table:
    propagation starts there as well.

    Input, with `dist.rules = {ffn = "tp"}`:
    ```mlir
    func.func private @microbatch(tensor<64x256xf32> {tfm.param = #tfm.param<name = "layers.0.mlp.up.weight", axes = ["embed", "ffn"], init = normal, std = 0.02 : f64, decay = true>})
    ```

    Output:
    ```mlir
    func.func private @microbatch(tensor<64x256xf32> {dist.sharding = #dist.sharding<[{}, {"tp"} ]>, tfm.param = #tfm.param<name = "layers.0.mlp.up.weight", axes = ["embed", "ffn"], init = normal, std = 0.02 : f64, decay = true>})
    ```
  }];
  let dependentDialects = ["::mtc::dist::DistDialect", "::mtc::tfm::TfmDialect"];
  let options = [
    Option<"mesh", "mesh", "std::string", "\"\"", "axes and sizes instead of dist.mesh, for tests: dp=2,tp=4">,
    Option<"rules", "rules", "std::string", "\"\"", "logical to mesh axes instead of dist.rules, for tests: ffn=tp,batch=dp">];
}
def PropagateShardings : MtcPass<"propagate-shardings"> {
  let summary = "shardings of every value, forward and backward";
  let description = [{
    Few values are annotated; all must have a state, forward and backward. Factor
    propagation from parameters and inputs, each mesh axis on its own; partial
    sums stay partial as long as a minimum cut says that this moves fewer bytes
    ([sharding](../sharding.md)). Writes `dist.shardings` on every op: what the op
    *produces*; `dist.required` on ops and the return: per operand what it needs;
    `dist.sharding` on results. Sums are flattened and split on the way.

    Input, where %w is split over tp on dimension 0:
    ```mlir
    %y = tfm.einsum "bsf,fe->bse" %v, %w : tensor<2x32x256xf32>, tensor<256x64xf32> -> tensor<2x32x64xf32>
    ```

    Output:
    ```mlir
    %y = tfm.einsum "bsf,fe->bse" %v, %w {dist.shardings = [#dist.sharding<[{"dp"}, {}, {} ], partial = {"tp"}>]} : tensor<2x32x256xf32>, tensor<256x64xf32> -> tensor<2x32x64xf32>
    ```
  }];
  let dependentDialects = ["::mtc::dist::DistDialect", "::mtc::tfm::TfmDialect"];
}
def InsertCollectives : MtcPass<"insert-collectives"> {
  let summary = "reshards where what is produced is not what is wanted";
  let description = [{
    After propagation an op may produce what its user does not want. One
    `dist.reshard` per value and wish, placed right after the producer for partial
    values and before the first user otherwise. Until the end of the step the loss
    stays partial over dp, and the gradient of a parameter over axes that do not
    split it.

    Input, where the user of %y wants full values over tp:
    ```mlir
    %y = tfm.einsum "bsf,fe->bse" %v, %w {dist.shardings = [#dist.sharding<[{"dp"}, {}, {} ], partial = {"tp"}>]} : tensor<2x32x256xf32>, tensor<256x64xf32> -> tensor<2x32x64xf32>
    ```

    Output, after it:
    ```mlir
    %r = dist.reshard %y from <[{"dp"}, {}, {} ], partial = {"tp"}> to <[{"dp"}, {}, {} ]> origin g serves "layers.0.mlp.down.weight" : tensor<2x32x64xf32>
    ```
  }];
  let dependentDialects = ["::mtc::dist::DistDialect", "::mtc::tfm::TfmDialect"];
}
def Partition : MtcPass<"partition"> {
  let summary = "global to local shapes; reshards become collectives";
  let description = [{
    A rank holds a part of each tensor: types become those of the part, and a
    reshard becomes the collective that does it. Ops that use an index of a split
    dimension get `dist.index_axis` and `dist.index_stride` (its local size):
    coordinate·stride is to be added to a local index; for dropout also
    `dist.index_dim`. Where ranks have a piece of the head and one of the tail (`cp`)
    they get `dist.piece_axis` and `dist.piece`, the indices of a piece: an index of
    the two together, with that added, still has to go to the place of its piece.
    `dist.global_shape` on arguments and `dist.global_shapes` on
    ops keep the global shapes.

    Input:
    ```mlir
    %e = tfm.embed %ids, %table {dist.shardings = [#dist.sharding<[{"dp"}, {}, {} ], partial = {"tp"}>]} : tensor<2x32xi32>, tensor<256x64xf32> -> tensor<2x32x64xf32>
    %r = dist.reshard %e from <[{"dp"}, {}, {} ], partial = {"tp"}> to <[{"dp"}, {}, {} ]> origin embedding serves "embed.tokens" : tensor<2x32x64xf32>
    ```

    Output:
    ```mlir
    %e = tfm.embed %ids, %table {dist.index_axis = "tp", dist.index_stride = 128 : i64} : tensor<1x32xi32>, tensor<128x64xf32> -> tensor<1x32x64xf32>
    %r = dist.all_reduce sum %e over "tp" origin embedding serves "embed.tokens" : tensor<1x32x64xf32>
    ```
  }];
  let dependentDialects = ["::mtc::dist::DistDialect", "::mtc::tfm::TfmDialect"];
}
def VerifyPartitioned : MtcPass<"verify-partitioned"> {
  let summary = "checks that local shapes, shardings and collectives agree";
  let description = [{
    A collective that is missing or doubled gives wrong numbers and no error. Walks
    the function with the state of each value per mesh axis and rejects an op whose
    operands are not what its sharding rule needs. Also local types against global
    shapes, index offsets, and gradients against their parameters.

    Input: the result of `partition`. Rejected, because %y is a partial sum over tp
    and gelu is not linear:
    ```mlir
    %y = tfm.einsum "bsf,fe->bse" %v, %w : tensor<1x32x128xf32>, tensor<128x64xf32> -> tensor<1x32x64xf32>
    %z = tfm.activation gelu %y : tensor<1x32x64xf32>
    ```

    Output: the same IR.
  }];
  let dependentDialects = ["::mtc::dist::DistDialect", "::mtc::tfm::TfmDialect"];
}

//===--- pipeline ----------------------------------------------------------------===//

include "passes/pipeline/Passes.td"

//===--- plan ----------------------------------------------------------------------===//

def BucketGradients : MtcPass<"bucket-gradients"> {
  let summary = "one program per stage; parameters and gradients in flat buckets";
  let description = [{
    Reducing gradients one by one would be many small collectives. Moves the
    fragments and timelines of each stage into an `rt.program` and lays its
    parameters out in buckets: Megatron's order, sizes and padding. Gradients have
    the layout of their parameters. Every further use of a tied parameter on the
    stage gets a bucket of accumulators (`second_use_of`), because sums of uses
    are added after the reduction. Gradients that are partial over a group beside
    those of the data lie in buckets of their own, and their rows say so, and so do
    parameters of each type: one all-gather moves a bucket. Where
    backwards sum gradients over ranks (ZeRO-2, `grad-reduce`) a bucket is of one
    fragment.

    Input, in `@stage1_fwd`:
    ```mlir
    %g = pipe.param "final_norm.scale" : tensor<64xf32>
    ```

    Output, in `rt.program @stage1`:
    ```mlir
    rt.bucket 0 elements 128 unpadded 128 shard 128
    rt.param "final_norm.scale" use 0 bucket 0 start 64
    ```
  }];
}
def ShardOptimizer : MtcPass<"shard-optimizer"> {
  let summary = "gradient reduction and the optimizer's shards";
  let description = [{
    Replicas need not hold each other's optimizer state. Gives each dp rank its
    shard of every bucket (all of it without ZeRO), and builds the update fragments
    `reduce` and `apply` of each stage: reduce-scatter or all-reduce over dp, then
    all-reduce of what is partial over other groups, tied uses added, global norm,
    AdamW on the shard, all-gather.

    Input:
    ```mlir
    rt.bucket 0 elements 128 unpadded 128 shard 128
    ```

    Output under ZeRO-1 with dp = 2, and in `@stage0_reduce`:
    ```mlir
    rt.bucket 0 elements 128 unpadded 128 shard 64

    %g = rt.ref grad of 0 : memref<128xf32>
    rt.collective reduce_scatter %g group dp count 64 {origin = "gradient"} : (memref<128xf32>) -> ()
    ```
  }];
}
def FormClusters : ProgramPass<"form-clusters"> {
  let summary = "ops that become one kernel to one region";
  let description = [{
    A kernel per op would read and write memory between any two. Wraps pointwise
    and row-wise ops greedily, in program order, never across a layer boundary,
    into `rt.cluster`: which ops share a kernel is read off the IR, and edited
    there. Contractions, attention (with what moves its operands) and collectives
    stay between clusters. Sinks
    move behind what they add, so that a kernel or a GEMM adds in place; a cast to
    a wider type is made again for each reader. Writes `rt.collectives` on each
    fragment: kind, group, count and `serves` of its collectives in order, for
    verify-plan to compare with what is left of them.

    Input:
    ```mlir
    %u = tfm.einsum "bse,ef->bsf" %x, %w : tensor<1x32x64xf32>, tensor<64x128xf32> -> tensor<1x32x128xf32>
    %b2 = tfm.broadcast %b dims [2] : tensor<128xf32> -> tensor<1x32x128xf32>
    %u2 = tfm.add %u, %b2 : tensor<1x32x128xf32>
    %v = tfm.activation relu %u2 : tensor<1x32x128xf32>
    ```

    Output:
    ```mlir
    %u = tfm.einsum "bse,ef->bsf" %x, %w : tensor<1x32x64xf32>, tensor<64x128xf32> -> tensor<1x32x128xf32>
    %v = rt.cluster -> (tensor<1x32x128xf32>) {
      %b2 = tfm.broadcast %b dims [2] : tensor<128xf32> -> tensor<1x32x128xf32>
      %u2 = tfm.add %u, %b2 : tensor<1x32x128xf32>
      %a = tfm.activation relu %u2 : tensor<1x32x128xf32>
      rt.yield %a : tensor<1x32x128xf32>
    }
    ```
  }];
}
def VerifyFragments : MtcPass<"verify-fragments"> {
  let summary = "checks the shardings of all fragments, and between them";
  let description = [{
    The checks of `verify-partitioned` once more, right before tensors lose their
    shardings: passes and people may have changed fragments since. Every op of a
    fragment, in clusters and between, against its sharding rule; parameters, inputs, saved activations and
    what crosses stages in one sharding wherever they stand; gradients and the loss
    in the states in which the update sums them.

    Input: the result of `form-clusters`. Rejected, because the value was saved as
    a part over tp and is read as the whole:
    ```mlir
    pipe.save %u as 0 : tensor<1x32x128xf32>

    %v = pipe.saved 0 {dist.global_shapes = [array<i64: 1, 32, 128>], dist.shardings = [#dist.sharding<[{}, {}, {} ]>]} : tensor<1x32x128xf32>
    ```

    Output: the same IR.
  }];
  let dependentDialects = ["::mtc::dist::DistDialect", "::mtc::tfm::TfmDialect", "::mtc::pipe::PipeDialect"];
}
def OutlineKernels : ProgramPass<"outline-kernels"> {
  let summary = "clusters to kernels and launches";
  let description = [{
    Makes a loop nest of each cluster: the body in scalar arithmetic, what it reads
    and yields as operands. Equal kernels are shared. A sum over rows adds to its
    accumulator in place, others to zeros. Every sink's accumulator gets its
    `rt.ref`, those of products, too. A cluster that a person wrote and that is not
    one loop nest is rejected, with the op that does not fit.

    Where the target has the `epilogues` of a GPU, a cluster that is in whole a bias of a product's
    columns, GELU, or both, is no kernel: product and cluster become one `rt.gemm`, which
    also writes what GELU is of where the backward needs it. Nobody else may read the
    product, which is of the cluster's layer and of its operands' type.

    Input:
    ```mlir
    %v = rt.cluster -> (tensor<1x32x128xf32>) {
      %b2 = tfm.broadcast %b dims [2] : tensor<128xf32> -> tensor<1x32x128xf32>
      %u2 = tfm.add %u, %b2 : tensor<1x32x128xf32>
      %a = tfm.activation relu %u2 : tensor<1x32x128xf32>
      rt.yield %a : tensor<1x32x128xf32>
    }
    ```

    Output, the kernel in the program and its launch in the fragment:
    ```mlir
    rt.kernel @kernel7 rows 32 cols 128 args 0 [#rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
      %0 = rt.load 0 : f32
      %1 = rt.load 1 : f32
      %2 = arith.addf %1, %0 : f32
      %3 = arith.constant 0.0 : f32
      %4 = arith.maximumf %2, %3 : f32
      rt.store 2, %4 : f32
    }
    %e = tensor.empty() : tensor<1x32x128xf32>
    %v = rt.launch @kernel7(%b, %u, %e) args() writes [2] : (tensor<128xf32>, tensor<1x32x128xf32>, tensor<1x32x128xf32>) -> tensor<1x32x128xf32>
    ```
  }];
}
def LowerCalls : ProgramPass<"lower-calls"> {
  let summary = "contractions, attention and collectives to calls";
  let description = [{
    What the runtime has functions for. One pattern per op: a contraction becomes
    `rt.gemm`, which adds to the accumulator where a sink is the only reader;
    attention `rt.attention`; a collective of dist `rt.collective` in place, with
    kernels that move rows before and behind it where the parts of the ranks do not
    lie in their order. Calls are in destination style: a new value is written into
    a `tensor.empty`. An op of a kernel that stands in no cluster is rejected.

    Input:
    ```mlir
    %y = tfm.einsum "bsf,fe->bse" %v, %w : tensor<1x32x128xf32>, tensor<128x64xf32> -> tensor<1x32x64xf32>
    %r = dist.all_reduce sum %y over "tp" origin g serves "layers.0.mlp.down.weight" : tensor<1x32x64xf32>
    ```

    Output:
    ```mlir
    %e = tensor.empty() : tensor<1x32x64xf32>
    %y = rt.gemm %v, %w into %e m 32 n 64 k 128 {beta = false, ta = false, tb = false} : (tensor<1x32x128xf32>, tensor<128x64xf32>, tensor<1x32x64xf32>) -> tensor<1x32x64xf32>
    %r = rt.collective all_reduce %y group tp count 2048 {origin = "g", serves = "layers.0.mlp.down.weight"} : (tensor<1x32x64xf32>) -> tensor<1x32x64xf32>
    ```
  }];
}
def ShardGradients : ProgramPass<"shard-gradients"> {
  let summary = "gradients of each microbatch summed over dp where they are made";
  let description = [{
    Under ZeRO-2 a rank has the accumulators of its shard of a bucket only. So what
    a fragment adds to gradients goes to a staging buffer of the bucket, which lives
    in the fragment's workspace from the bucket's first gradient to its last; behind
    that a reduce-scatter over dp sums it, and the rank's part is added to its shard.
    Staging begins as zeros, which padding stays. All gradients of a bucket are those
    of one fragment (bucket-gradients), or the bucket is rejected. Without ZeRO-2, or
    with dp 1, the pass changes nothing.

    Input:
    ```mlir
    rt.bucket 0 elements 256 unpadded 200 shard 128 {shard_gradients}
    rt.param "w" use 0 bucket 0 start 0
    %g = rt.ref grad for "w" use 0 : memref<10x20xf32>
    rt.gemm %a, %b into %g m 10 n 20 k 8 {beta = true, ta = false, tb = false} : (tensor<80xf32>, tensor<160xf32>, memref<10x20xf32>) -> ()
    ```

    Output:
    ```mlir
    %g = rt.ref staging for "w" use 0 : memref<10x20xf32>
    %s = rt.ref staging of 0 : memref<256xf32>
    rt.zero %s : (memref<256xf32>) -> ()
    rt.gemm %a, %b into %g m 10 n 20 k 8 {beta = true, ta = false, tb = false} : (tensor<80xf32>, tensor<160xf32>, memref<10x20xf32>) -> ()
    rt.collective reduce_scatter %s group dp count 128 {origin = "gradient"} : (memref<256xf32>) -> ()
    %at, %local, %length = rt.flat_range start 0 count 256 shard 128
    %own = rt.ref grad of 0 : memref<128xf32>
    %into = rt.offset_view %own by %local : memref<128xf32> -> memref<128xf32>
    %from = rt.offset_view %s by %at : memref<256xf32> -> memref<256xf32>
    rt.launch @kernel0(%into, %from) args(%length) writes [0] : (memref<128xf32>, memref<256xf32>) -> ()
    ```
  }];
}
include "passes/plan/Overlap.td"
def AssignStreams : ProgramPass<"assign-streams"> {
  let summary = "collectives to a stream of their own, ordered by events";
  let description = [{
    A collective that nobody waits for yet may run beside a product. On a target
    with more than one stream (cuda, and cpu with `streams = 2`) collectives run on stream 1,
    all else on stream 0. An event before a collective says that its operand is
    whole, unless an earlier one of the fragment says so; one after it, that its result is; the wait for that stands before the
    first op that touches the buffer, so that ops between overlap with the
    collective. The pass ends each fragment with nothing in flight, but for sums of
    gradients in backwards (overlap-gradients): these end while later fragments run, and
    `reduce` waits for them before it reads the first. A target with one stream has
    none of this.

    With the epilogue `pointwise` a launch `continues` the product in front of it, whose
    elements its kernel reads one by one: nothing may come between them, and here it is
    known what does. Its kernel becomes tiled, or gets a tiled copy where other launches
    need it as it is.

    Input:
    ```mlir
    %s = rt.collective all_reduce %y group tp count 512 : (tensor<512xf32>) -> tensor<512xf32>
    %g = rt.gemm %a, %b into %e m 8 n 8 k 8 {beta = false, ta = false, tb = false} : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    ```

    Output:
    ```mlir
    rt.record event 0 stream 0
    rt.wait event 0 stream 1
    %s = rt.collective all_reduce %y group tp count 512 {stream = 1 : i64} : (tensor<512xf32>) -> tensor<512xf32>
    rt.record event 1 stream 1
    %g = rt.gemm %a, %b into %e m 8 n 8 k 8 {beta = false, ta = false, tb = false} : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    rt.wait event 1 stream 0
    ```
  }];
}
def PlanMemory : ProgramPass<"plan-memory"> {
  let summary = "an offset for every value";
  let description = [{
    Nothing is allocated at run time: here every value gets its address. Liveness
    inside fragments gives workspace offsets (left edge, largest first); saved
    values, inputs and transfers live in slots; buckets in the params, grads and
    optimizer arenas. What an op makes of a destination that it reads takes the bytes
    of that, any other value has its own, and a `tensor.empty` has none; then the
    destinations hold the results. Writes `rt.view` and the arena sizes, and leaves
    what it found in `rt.tensor_form`.

    Input:
    ```mlir
    %e = tensor.empty() : tensor<1x32x128xf32>
    %v = rt.launch @kernel7(%b, %u, %e) args() writes [2] : (tensor<128xf32>, tensor<1x32x128xf32>, tensor<1x32x128xf32>) -> tensor<1x32x128xf32>
    ```

    Output:
    ```mlir
    %b = rt.view params at 133632 : memref<128xf32>
    %u = rt.view activations at 62592 slot of saved stride 165504 : memref<1x32x128xf32>
    %v = rt.view workspace at 8192 : memref<1x32x128xf32>
    rt.launch @kernel7(%b, %u, %v) args() writes [2] : (memref<128xf32>, memref<1x32x128xf32>, memref<1x32x128xf32>) -> ()
    ```
  }];
}
def VerifyPlan : MtcPass<"verify-plan"> {
  let summary = "rejects a plan that could hang, overlap or lose a parameter";
  let description = [{
    What runs is checked once more, apart from the passes that made it. Collectives
    agree on every communicator; transfers pair; the wait-for graph of all ranks
    has no cycle, over two steps; views lie inside their arenas; no two live views
    overlap; every element of every parameter has exactly one owner. Streams are
    followed from row to row: an event of one fragment may be waited for in that
    of a later row, and an entry ends with nothing in flight. Values are
    numbered in the bytes and in `rt.tensor_form`: what a fragment sends, saves,
    exports, accumulates and writes has one number in both.

    Input: the result of `plan-memory`. Rejected, because two values that live
    together overlap:
    ```mlir
    %a = rt.view workspace at 0 : memref<64xf32>
    %b = rt.view workspace at 128 : memref<64xf32>
    rt.launch @add(%a, %b) args() writes [1] : (memref<64xf32>, memref<64xf32>) -> ()
    ```

    Output: the same IR.
  }];
}

//===--- codegen ---------------------------------------------------------------------===//

def CodegenKernels : MtcPass<"codegen-kernels"> {
  let summary = "kernels to func, scf and vector (CPU)";
  let description = [{
    From here on a kernel is ordinary code. Knows rows, columns and scalar
    arithmetic, and no op of tfm. No fast-math: FMA where the body says so,
    reductions with a fixed lane tree ([numerics](../numerics.md)).

    Input:
    ```mlir
    rt.kernel @double rows 1 cols 16 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
      %x = rt.load 0 : f32
      %y = arith.addf %x, %x : f32
      rt.store 1, %y : f32
    }
    ```

    Output, in essence:
    ```mlir
    %x = vector.load %in[%c] : memref<?xf32>, vector<16xf32>
    %y = arith.addf %x, %x : vector<16xf32>
    vector.store %y, %out[%c] : memref<?xf32>, vector<16xf32>
    ```
  }];
  let options = [Option<"vectorWidth", "vector-width", "int64_t", "16", "fp32 lanes of a vector">,
                 Option<"nativeBf16", "native-bf16", "bool", "false",
                        "the target has an instruction that rounds f32 to bf16">,
                 Option<"threads", "threads", "int64_t", "0",
                        "of a rank: with several a kernel takes its part, and their number; 0: those of the configuration, or 1">];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::scf::SCFDialect",
      "::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
      "::mlir::memref::MemRefDialect", "::mlir::LLVM::LLVMDialect"];
}
def LowerToLLVM : MtcPass<"lower-to-llvm"> {
  let summary = "fragments to LLVM: direct calls, immediate offsets";
  let description = [{
    The last step inside MLIR. An address is arena base + slot·stride + offset with
    immediates; kernels and runtime functions are called by name.

    Input:
    ```mlir
    %v = rt.view workspace at 8192 : memref<64xf32>
    ```

    Output, in essence, with the base of arena 4:
    ```mlir
    %v = llvm.getelementptr inbounds %base[8192] : (!llvm.ptr) -> !llvm.ptr, i8
    ```
  }];
}
#endif // MTC_PASSES
