// One stage with tp = 2, dp = 2 and ZeRO-1: a split weight, a replicated one, and a
// table that is used twice. Tests plant faults in it line by line.
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 2, cp = 1, dp = 2, pp = 1>, batch = <micro = 1, microbatches = 2, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 1, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 2]>, mtc.config = #config} {
  pipe.parameter #tfm.param<name = "embed.tokens", axes = ["a0", "a1"], init = ones, std = 0.0 : f64, decay = false> sharding #dist.sharding<[{"tp"}, {}]> uses 2 local tensor<16x4xf32>
  pipe.parameter #tfm.param<name = "layers.0.w", axes = ["a0"], init = ones, std = 0.0 : f64, decay = false> sharding #dist.sharding<[{"tp"}]> local tensor<4xf32> {tfm.layer = 1 : i64}
  pipe.parameter #tfm.param<name = "norm", axes = ["a0"], init = ones, std = 0.0 : f64, decay = false> local tensor<4xf32>
  rt.program @stage0 stage 0 {
    rt.kernel @gather rows 16 cols 4 args 0 [
        #rt.operand<mode = row, element = i32, extent = 0>, #rt.operand<mode = table, element = f32, extent = 16>,
        #rt.operand<mode = full, element = f32, extent = 0>] {
      %i = rt.load 0 : i32
      %x = rt.gather 1 at %i : f32
      rt.store 2, %x : f32
    }
    rt.kernel @scatter rows 16 cols 4 args 0 [
        #rt.operand<mode = row, element = i32, extent = 0>, #rt.operand<mode = table, element = f32, extent = 16>,
        #rt.operand<mode = full, element = f32, extent = 0>] {
      %i = rt.load 0 : i32
      %x = rt.load 2 : f32
      rt.scatter_add 1 at %i, %x : f32
    }
    rt.kernel @scale rows 16 cols 4 args 0 [
        #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>,
        #rt.operand<mode = full, element = f32, extent = 0>] {
      %x = rt.load 0 : f32
      %w = rt.load 1 : f32
      %y = arith.mulf %x, %w : f32
      rt.store 2, %y : f32
    }
    rt.kernel @scale_grad rows 16 cols 4 args 0 [
        #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>,
        #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
      %dy = rt.load 0 : f32
      %x = rt.load 1 : f32
      %dw = arith.mulf %dy, %x : f32
      rt.accumulate 2, %dw : f32
      rt.store 3, %dy : f32
    }
    rt.kernel @loss rows 16 cols 4 args 0 [
        #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = row, element = i32, extent = 0>,
        #rt.operand<mode = scalar, element = f32, extent = 0>] {
      %x = rt.load 0 : f32
      %label = rt.load 1 : i32
      %s = rt.row_reduce sum %x : f32
      rt.accumulate 2, %s : f32
    }
    rt.kernel @adamw rows 1 cols -1 args 0 [
        #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>,
        #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] guarded {
      %p = rt.load 0 : f32
      %g = rt.load 1 : f32
      %m = rt.load 2 : f32
      %v = rt.load 3 : f32
      %q = arith.subf %p, %g : f32
      %n = arith.addf %m, %v : f32
      rt.store 0, %q : f32
      rt.store 2, %n : f32
      rt.store 3, %n : f32
    }
    rt.kernel @add rows 1 cols -1 args 0 [
        #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
      %x = rt.load 1 : f32
      rt.accumulate 0, %x : f32
    }
    rt.bucket 0 elements 128 unpadded 68 shard 64 {param_offset = 0 : i64, grad_offset = 0 : i64, state_offsets = array<i64: 0, 256>, states = ["exp_avg", "exp_avg_sq"]}
    rt.bucket 1 elements 128 unpadded 64 shard 64 {param_offset = 512 : i64, grad_offset = 512 : i64, state_offsets = array<i64: 512, 768>, states = ["exp_avg", "exp_avg_sq"]}
    rt.bucket 2 elements 128 unpadded 64 shard 64 second_use_of 1 {grad_offset = 1024 : i64}
    rt.param "layers.0.w" use 0 bucket 0 start 0 partial <dp>
    rt.param "norm" use 0 bucket 0 start 64 partial <dp>
    rt.param "embed.tokens" use 0 bucket 1 start 0 partial <dp>
    rt.param "embed.tokens" use 1 bucket 2 start 0 partial <dp>
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>, rt.collectives = [{count = 64 : i64, group = "tp", kind = "all_reduce", serves = "embed.tokens"}]} {
      %1 = rt.view activations at 0 slot of saved stride 320 : memref<16xi32>
      %2 = rt.view params at 512 : memref<16x4xf32>
      %3 = rt.view workspace at 0 : memref<16x4xf32>
      rt.launch @gather(%1, %2, %3) args() writes [2] : (memref<16xi32>, memref<16x4xf32>, memref<16x4xf32>) -> ()
      %4 = rt.view workspace at 0 : memref<16x4xf32>
      rt.collective all_reduce %4 group tp count 64 {serves = "embed.tokens"} : (memref<16x4xf32>) -> ()
      %5 = rt.view workspace at 0 : memref<16x4xf32>
      %6 = rt.view params at 0 : memref<4xf32>
      %7 = rt.view activations at 64 slot of saved stride 320 : memref<16x4xf32>
      rt.launch @scale(%5, %6, %7) args() writes [2] : (memref<16x4xf32>, memref<4xf32>, memref<16x4xf32>) -> ()
      %8 = rt.view activations at 64 slot of saved stride 320 : memref<16x4xf32>
      %9 = rt.view params at 256 : memref<4xf32>
      %10 = rt.view workspace at 0 : memref<16x4xf32>
      rt.launch @scale(%8, %9, %10) args() writes [2] : (memref<16x4xf32>, memref<4xf32>, memref<16x4xf32>) -> ()
      %11 = rt.view activations at 64 slot of saved stride 320 : memref<16x4xf32>
      %12 = rt.view params at 256 : memref<4xf32>
      %13 = rt.view workspace at 512 : memref<16x4xf32>
      rt.launch @scale(%11, %12, %13) args() writes [2] : (memref<16x4xf32>, memref<4xf32>, memref<16x4xf32>) -> ()
      %14 = rt.view activations at 64 slot of saved stride 320 : memref<16x4xf32>
      %15 = rt.view activations at 0 slot of saved stride 320 : memref<16xi32>
      %16 = rt.view grads at 1536 : memref<f32>
      rt.launch @loss(%14, %15, %16) args() writes [2] : (memref<16x4xf32>, memref<16xi32>, memref<f32>) -> ()
      return
    }
    func.func @stage0_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>, rt.collectives = []} {
      %1 = rt.view activations at 64 slot of saved stride 320 : memref<16x4xf32>
      %2 = rt.view activations at 64 slot of saved stride 320 : memref<16x4xf32>
      %3 = rt.view grads at 0 : memref<4xf32>
      %4 = rt.view workspace at 0 : memref<16x4xf32>
      rt.launch @scale_grad(%1, %2, %3, %4) args() writes [2, 3] : (memref<16x4xf32>, memref<16x4xf32>, memref<4xf32>, memref<16x4xf32>) -> ()
      %5 = rt.view workspace at 0 : memref<16x4xf32>
      %6 = rt.view activations at 64 slot of saved stride 320 : memref<16x4xf32>
      %7 = rt.view grads at 256 : memref<4xf32>
      %8 = rt.view workspace at 256 : memref<16x4xf32>
      rt.launch @scale_grad(%5, %6, %7, %8) args() writes [2, 3] : (memref<16x4xf32>, memref<16x4xf32>, memref<4xf32>, memref<16x4xf32>) -> ()
      %9 = rt.view activations at 0 slot of saved stride 320 : memref<16xi32>
      %10 = rt.view grads at 1024 : memref<16x4xf32>
      %11 = rt.view workspace at 256 : memref<16x4xf32>
      rt.launch @scatter(%9, %10, %11) args() writes [1] : (memref<16xi32>, memref<16x4xf32>, memref<16x4xf32>) -> ()
      %12 = rt.view activations at 0 slot of saved stride 320 : memref<16xi32>
      %13 = rt.view grads at 512 : memref<16x4xf32>
      %14 = rt.view workspace at 256 : memref<16x4xf32>
      rt.launch @scatter(%12, %13, %14) args() writes [1] : (memref<16xi32>, memref<16x4xf32>, memref<16x4xf32>) -> ()
      return
    }
    func.func @stage0_eval() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = eval>, rt.collectives = [{count = 64 : i64, group = "tp", kind = "all_reduce", serves = "embed.tokens"}]} {
      %1 = rt.view activations at 0 slot of saved stride 320 : memref<16xi32>
      %2 = rt.view params at 512 : memref<16x4xf32>
      %3 = rt.view workspace at 0 : memref<16x4xf32>
      rt.launch @gather(%1, %2, %3) args() writes [2] : (memref<16xi32>, memref<16x4xf32>, memref<16x4xf32>) -> ()
      %4 = rt.view workspace at 0 : memref<16x4xf32>
      rt.collective all_reduce %4 group tp count 64 {serves = "embed.tokens"} : (memref<16x4xf32>) -> ()
      %5 = rt.view workspace at 0 : memref<16x4xf32>
      %6 = rt.view params at 0 : memref<4xf32>
      %7 = rt.view workspace at 256 : memref<16x4xf32>
      rt.launch @scale(%5, %6, %7) args() writes [2] : (memref<16x4xf32>, memref<4xf32>, memref<16x4xf32>) -> ()
      %8 = rt.view workspace at 256 : memref<16x4xf32>
      %9 = rt.view params at 256 : memref<4xf32>
      %10 = rt.view workspace at 0 : memref<16x4xf32>
      rt.launch @scale(%8, %9, %10) args() writes [2] : (memref<16x4xf32>, memref<4xf32>, memref<16x4xf32>) -> ()
      %11 = rt.view workspace at 256 : memref<16x4xf32>
      %12 = rt.view params at 256 : memref<4xf32>
      %13 = rt.view workspace at 512 : memref<16x4xf32>
      rt.launch @scale(%11, %12, %13) args() writes [2] : (memref<16x4xf32>, memref<4xf32>, memref<16x4xf32>) -> ()
      %14 = rt.view workspace at 256 : memref<16x4xf32>
      %15 = rt.view activations at 0 slot of saved stride 320 : memref<16xi32>
      %16 = rt.view grads at 1536 : memref<f32>
      rt.launch @loss(%14, %15, %16) args() writes [2] : (memref<16x4xf32>, memref<16xi32>, memref<f32>) -> ()
      return
    }
    func.func @stage0_reduce() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = reduce>} {
      %1 = rt.view grads at 1536 : memref<f32>
      rt.collective all_reduce %1 group dp count 1 : (memref<f32>) -> ()
      %2 = rt.view grads at 0 : memref<128xf32>
      rt.collective reduce_scatter %2 group dp count 64 : (memref<128xf32>) -> ()
      %3 = rt.view grads at 512 : memref<128xf32>
      rt.collective reduce_scatter %3 group dp count 64 : (memref<128xf32>) -> ()
      %4 = rt.view grads at 1024 : memref<128xf32>
      rt.collective reduce_scatter %4 group dp count 64 : (memref<128xf32>) -> ()
      %at5, %local5, %n5 = rt.flat_range start 0 count 128 shard 64
      %6 = rt.view grads at 512 : memref<128xf32>
      %7 = rt.offset_view %6 by %at5 : memref<128xf32> -> memref<128xf32>
      %8 = rt.view grads at 1024 : memref<128xf32>
      %9 = rt.offset_view %8 by %at5 : memref<128xf32> -> memref<128xf32>
      rt.launch @add(%7, %9) args(%n5) writes [0] : (memref<128xf32>, memref<128xf32>) -> ()
      rt.norm reset
      %loss = rt.view grads at 1536 : memref<f32>
      rt.norm check of %loss : memref<f32>
      %at10, %local10, %n10 = rt.flat_range start 0 count 4 shard 64
      %11 = rt.view grads at 0 : memref<128xf32>
      %12 = rt.offset_view %11 by %at10 : memref<128xf32> -> memref<128xf32>
      rt.norm accumulate of %12 : memref<128xf32> length %n10
      %at13, %local13, %n13 = rt.flat_range start 64 count 4 shard 64 among <tp>
      %14 = rt.view grads at 0 : memref<128xf32>
      %15 = rt.offset_view %14 by %at13 : memref<128xf32> -> memref<128xf32>
      rt.norm accumulate of %15 : memref<128xf32> length %n13
      %at16, %local16, %n16 = rt.flat_range start 0 count 64 shard 64
      %17 = rt.view grads at 512 : memref<128xf32>
      %18 = rt.offset_view %17 by %at16 : memref<128xf32> -> memref<128xf32>
      rt.norm accumulate of %18 : memref<128xf32> length %n16
      rt.collective norm_reduce group all count 1 : () -> ()
      rt.norm finish
      return
    }
    func.func @stage0_apply() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = apply>} {
      %at1, %local1, %n1 = rt.flat_range start 0 count 4 shard 64
      %2 = rt.view params at 0 : memref<128xf32>
      %3 = rt.offset_view %2 by %at1 : memref<128xf32> -> memref<128xf32>
      %4 = rt.view grads at 0 : memref<128xf32>
      %5 = rt.offset_view %4 by %at1 : memref<128xf32> -> memref<128xf32>
      %6 = rt.view optimizer at 0 : memref<64xf32>
      %7 = rt.offset_view %6 by %local1 : memref<64xf32> -> memref<64xf32>
      %8 = rt.view optimizer at 256 : memref<64xf32>
      %9 = rt.offset_view %8 by %local1 : memref<64xf32> -> memref<64xf32>
      rt.launch @adamw(%3, %5, %7, %9) args(%n1) writes [0, 2, 3] : (memref<128xf32>, memref<128xf32>, memref<64xf32>, memref<64xf32>) -> ()
      %at10, %local10, %n10 = rt.flat_range start 64 count 4 shard 64
      %11 = rt.view params at 0 : memref<128xf32>
      %12 = rt.offset_view %11 by %at10 : memref<128xf32> -> memref<128xf32>
      %13 = rt.view grads at 0 : memref<128xf32>
      %14 = rt.offset_view %13 by %at10 : memref<128xf32> -> memref<128xf32>
      %15 = rt.view optimizer at 0 : memref<64xf32>
      %16 = rt.offset_view %15 by %local10 : memref<64xf32> -> memref<64xf32>
      %17 = rt.view optimizer at 256 : memref<64xf32>
      %18 = rt.offset_view %17 by %local10 : memref<64xf32> -> memref<64xf32>
      rt.launch @adamw(%12, %14, %16, %18) args(%n10) writes [0, 2, 3] : (memref<128xf32>, memref<128xf32>, memref<64xf32>, memref<64xf32>) -> ()
      %at19, %local19, %n19 = rt.flat_range start 0 count 64 shard 64
      %20 = rt.view params at 512 : memref<128xf32>
      %21 = rt.offset_view %20 by %at19 : memref<128xf32> -> memref<128xf32>
      %22 = rt.view grads at 512 : memref<128xf32>
      %23 = rt.offset_view %22 by %at19 : memref<128xf32> -> memref<128xf32>
      %24 = rt.view optimizer at 512 : memref<64xf32>
      %25 = rt.offset_view %24 by %local19 : memref<64xf32> -> memref<64xf32>
      %26 = rt.view optimizer at 768 : memref<64xf32>
      %27 = rt.offset_view %26 by %local19 : memref<64xf32> -> memref<64xf32>
      rt.launch @adamw(%21, %23, %25, %27) args(%n19) writes [0, 2, 3] : (memref<128xf32>, memref<128xf32>, memref<64xf32>, memref<64xf32>) -> ()
      %28 = rt.view params at 0 : memref<128xf32>
      rt.collective all_gather %28 group dp count 64 : (memref<128xf32>) -> ()
      %29 = rt.view params at 512 : memref<128xf32>
      rt.collective all_gather %29 group dp count 64 : (memref<128xf32>) -> ()
      %30 = rt.view grads at 0 : memref<128xf32>
      rt.zero %30 guarded : (memref<128xf32>) -> ()
      %31 = rt.view grads at 512 : memref<128xf32>
      rt.zero %31 guarded : (memref<128xf32>) -> ()
      %32 = rt.view grads at 1024 : memref<128xf32>
      rt.zero %32 guarded : (memref<128xf32>) -> ()
      return
    }
    rt.input_slot "ids" at 0 slot of saved stride 320 entry "train"
    rt.input_slot "ids" at 0 slot of saved stride 320 entry "eval"
    rt.timeline @train {
      rt.step load microbatch 0 slots <saved = 0>
      rt.step run @stage0_fwd microbatch 0 slots <saved = 0>
      rt.step run @stage0_bwd microbatch 0 slots <saved = 0>
      rt.step load microbatch 1 slots <saved = 0>
      rt.step run @stage0_fwd microbatch 1 slots <saved = 0>
      rt.step run @stage0_bwd microbatch 1 slots <saved = 0>
      rt.step run @stage0_reduce
      rt.step run @stage0_apply
    }
    rt.timeline @eval {
      rt.step load microbatch 0 slots <saved = 0>
      rt.step run @stage0_eval microbatch 0 slots <saved = 0>
      rt.step load microbatch 1 slots <saved = 0>
      rt.step run @stage0_eval microbatch 1 slots <saved = 0>
    }
  } {arenas = array<i64: 4096, 4096, 4096, 4096, 4096, 4096, 0>, loss_offset = 1536 : i64}
}
