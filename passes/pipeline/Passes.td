//===- Passes.td - the passes of the level pipe ------------------------------===//
//
// Included by passes/Passes.td, in the order in which they run.
//
//===----------------------------------------------------------------------===//
def DeriveEval : MtcPass<"derive-eval"> {
  let summary = "adds @eval: the forward alone, without random words";
  let description = [{
    The entry `eval` computes what `train` computes on the way to the loss, and
    nothing else. Copies the forward of `@microbatch` to `@eval` without what is
    saved for the backward and without gradients; ops that draw random words say
    by an interface what they are then (`EvalOpInterface`). What dumps read is
    computed by `eval` alone: the `tfm.export` ops move there, and what only they
    read leaves `@microbatch`.

    Input, a part of `@microbatch`:
    ```mlir
    %s = tfm.save %x {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32>
    %y = tfm.dropout %x at %id {rate = 0.1 : f64, rng_layer = 1 : i64, site = 2 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32>, tensor<i64> -> tensor<4x8xf32>
    %z = tfm.exp %y {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32>
    ```

    Output: the same, and this in `@eval`:
    ```mlir
    %z = tfm.exp %x {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32>
    ```
  }];
}
def CutStages : MtcPass<"cut-stages"> {
  let summary = "layers to stages; one function per stage and phase";
  let description = [{
    A stage runs its layers only, and what crosses its boundary must be explicit.
    Splits `@microbatch` into `@stageN_fwd` and `@stageN_bwd`, and `@eval` into
    `@stageN_eval`; where a stage has several chunks, each has its own. A result that
    other virtual stages read is sent to each of them directly, under a name of its
    own; `pipe.crossing` says what goes from where to where. `tfm.save` becomes a
    value kept in the activation slot. `@microbatch_recompute`, where there is one, becomes
    a second form of forwards and backwards, which saves and computes other values and
    sends the same.

    Input, where %0 belongs to a layer of stage 0 and %1 to one of stage 1:
    ```mlir
    %0 = tfm.add %a, %b {tfm.layer = 2 : i64, tfm.phase = "forward"} : tensor<1x32x64xf32>
    %s = tfm.save %0 {tfm.layer = 2 : i64, tfm.phase = "forward"} : tensor<1x32x64xf32>
    %1 = tfm.activation gelu %0 {tfm.layer = 3 : i64, tfm.phase = "forward"} : tensor<1x32x64xf32>
    ```

    Output, in the module, in `@stage0_fwd` and in `@stage1_fwd`:
    ```mlir
    pipe.crossing activation of "train" from 0 to 1 : tensor<1x32x64xf32>

    %0 = tfm.add %a, %b {tfm.layer = 2 : i64, tfm.phase = "forward"} : tensor<1x32x64xf32>
    pipe.save %0 as 0 : tensor<1x32x64xf32>
    pipe.send activation %0 : tensor<1x32x64xf32>

    %x = pipe.received activation : tensor<1x32x64xf32>
    %1 = tfm.activation gelu %x {tfm.layer = 3 : i64, tfm.phase = "forward"} : tensor<1x32x64xf32>
    ```
  }];
}
def BuildSchedule : MtcPass<"build-schedule"> {
  let summary = "per stage the list of compute slots, for each entry";
  let description = [{
    The order of forwards and backwards decides bubble and memory, and is data. Asks
    the registry of [schedules](../schedules.md) for the slots of the strategy's
    schedule (entry `train`) and of `forward-only` (entry `eval`), checks them and
    writes them down. With `recompute = <policy = microbatches, ...>` it writes how many
    slots are small.

    Input:
    ```mlir
    module attributes {mtc.config = #mtc.config<
      model = <name = "m", layers = 2, hidden = 64, vocab = 256, padded_vocab = 256>,
      mesh = <tp = 1, cp = 1, dp = 1, pp = 2>,
      batch = <micro = 1, microbatches = 4, global = 4, sequence = 32>, precision = f32,
      schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1, 1]>,
      optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>,
      target = <device = "cpu", isa = "x86-64-v3", threads = 1>>} {}
    ```

    Output, in that module:
    ```mlir
    pipe.schedule @train stages 2 chunks 1 microbatches 4 ["F0 F1 B0 F2 B1 F3 B2 B3", "F0 B0 F1 B1 F2 B2 F3 B3"]
    pipe.schedule @eval stages 2 chunks 1 microbatches 4 ["F0 F1 F2 F3", "F0 F1 F2 F3"]
    ```
  }];
}
def SplitBackward : MtcPass<"split-backward"> {
  let summary = "backward fragments to input gradient and weight gradient";
  let description = [{
    The stage before waits for the gradient of a stage's input, nobody for those of
    its weights: a schedule that runs these later fills its bubble with them
    (zero-bubble pipelines, arXiv 2401.10241). Where the slots of a stage and chunk
    are I and W, its backward fragment becomes two. W has the accumulations, and of
    each the chain of ops that nothing else needs, each used once by the next one;
    I has the rest. What W reads of I is saved by I. Parameters, inputs, saved and
    received activations are read again. Fragments of other stages stay whole.

    Input:
    ```mlir
    pipe.schedule @train stages 2 chunks 1 microbatches 1 ["F0 B0", "F0 I0 W0"]
    func.func @stage1_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = backward>} {
      %x = pipe.saved 0 : tensor<8x4xf32>
      %w = pipe.param "w" : tensor<4x2xf32>
      %g = pipe.received gradient : tensor<8x2xf32>
      %dx = tfm.einsum "se,fe->sf" %g, %w : tensor<8x2xf32>, tensor<4x2xf32> -> tensor<8x4xf32>
      pipe.send gradient %dx : tensor<8x4xf32>
      %dw = tfm.einsum "sf,se->fe" %x, %g : tensor<8x4xf32>, tensor<8x2xf32> -> tensor<4x2xf32>
      pipe.accumulate %dw to "w" use 0 : tensor<4x2xf32>
      return
    }
    ```

    Output, in place of that fragment:
    ```mlir
    func.func @stage1_bwd_input() attributes {pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = input_gradient>} {
      %g = pipe.received gradient : tensor<8x2xf32>
      pipe.save %g as 1 : tensor<8x2xf32>
      %w = pipe.param "w" : tensor<4x2xf32>
      %dx = tfm.einsum "se,fe->sf" %g, %w : tensor<8x2xf32>, tensor<4x2xf32> -> tensor<8x4xf32>
      pipe.send gradient %dx : tensor<8x4xf32>
      return
    }
    func.func @stage1_bwd_weight() attributes {pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = weight_gradient>} {
      %x = pipe.saved 0 : tensor<8x4xf32>
      %g = pipe.saved 1 : tensor<8x2xf32>
      %dw = tfm.einsum "sf,se->fe" %x, %g : tensor<8x4xf32>, tensor<8x2xf32> -> tensor<4x2xf32>
      pipe.accumulate %dw to "w" use 0 : tensor<4x2xf32>
      return
    }
    ```
  }];
}
def ExpandSchedule : MtcPass<"expand-schedule"> {
  let summary = "slots to timelines: sends, receives, buffers";
  let description = [{
    Sends and receives in an unlucky order hang; here their order follows from one
    total order of all events ([schedules](../schedules.md)). Stamps, sorts and
    projects: exchanges are placed and paired and every value gets a slot. Writes
    `pipe.timeline` ops, one per entry and stage. Where the schedule has small slots, a
    microbatch gets one on a stage if all others are taken, and runs the form
    `recompute` of fragments there; forms that no microbatch runs are erased.

    Input:
    ```mlir
    pipe.crossing activation of "train" from 0 to 1 : tensor<1x32x64xf32>
    pipe.crossing gradient of "train" from 1 to 0 : tensor<1x32x64xf32>
    pipe.schedule @train stages 2 chunks 1 microbatches 1 ["F0 B0", "F0 B0"]
    ```

    Output, the second of two timelines:
    ```mlir
    pipe.timeline @train_stage1 entry "train" stage 1 pools <recv_activation = 1, send_gradient = 1, saved = 1> {
      pipe.exchange [#pipe.transfer<send = false, value = activation, microbatch = 0, virtual_stage = 0, peer = 0, slot = 0>]
      pipe.slot "F" microbatch 0 chunk 0 slots <recv_activation = 0, saved = 0>
      pipe.slot "B" microbatch 0 chunk 0 slots <recv_activation = 0, send_gradient = 0, saved = 0>
      pipe.exchange [#pipe.transfer<send = true, value = gradient, microbatch = 0, virtual_stage = 1, peer = 0, slot = 0>]
    }
    ```
  }];
}
