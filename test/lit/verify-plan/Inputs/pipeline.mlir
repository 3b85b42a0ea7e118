// Two stages of one layer each, one rank per stage, a table that both stages use,
// two microbatches. Tests plant faults in it line by line.
#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 2>, batch = <micro = 1, microbatches = 2, global = 2, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1, 1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {dist.mesh = #dist.mesh<["dp" = 1, "tp" = 1]>, mtc.config = #config} {
  pipe.parameter #tfm.param<name = "embed.tokens", axes = ["a0", "a1"], init = ones, std = 0.0 : f64, decay = false> uses 2 local tensor<16x4xf32>
  pipe.parameter #tfm.param<name = "layers.0.w", axes = ["a0"], init = ones, std = 0.0 : f64, decay = false> local tensor<4xf32> {tfm.layer = 1 : i64}
  pipe.parameter #tfm.param<name = "layers.1.w", axes = ["a0"], init = ones, std = 0.0 : f64, decay = false> local tensor<4xf32> {tfm.layer = 2 : i64}
  pipe.crossing activation of "train" from 0 to 1 : tensor<16x4xf32>
  pipe.crossing gradient of "train" from 1 to 0 : tensor<16x4xf32>
  pipe.crossing activation of "eval" from 0 to 1 : tensor<16x4xf32>
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
    rt.kernel @pass_grad rows 16 cols 4 args 0 [
        #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>,
        #rt.operand<mode = full, element = f32, extent = 0>] {
      %dy = rt.load 0 : f32
      %x = rt.load 1 : f32
      %dx = arith.mulf %dy, %x : f32
      rt.store 2, %dx : f32
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
    rt.bucket 0 elements 4 unpadded 4 shard 4 {param_offset = 0 : i64, grad_offset = 0 : i64, state_offsets = array<i64: 0, 64>, states = ["exp_avg", "exp_avg_sq"]}
    rt.bucket 1 elements 64 unpadded 64 shard 64 {param_offset = 64 : i64, grad_offset = 64 : i64, state_offsets = array<i64: 128, 384>, states = ["exp_avg", "exp_avg_sq"]}
    rt.param "layers.0.w" use 0 bucket 0 start 0
    rt.param "embed.tokens" use 0 bucket 1 start 0
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>, rt.collectives = []} {
      %1 = rt.view activations at 512 slot of saved stride 320 : memref<16xi32>
      %2 = rt.view params at 64 : memref<16x4xf32>
      %3 = rt.view workspace at 0 : memref<16x4xf32>
      rt.launch @gather(%1, %2, %3) args() writes [2] : (memref<16xi32>, memref<16x4xf32>, memref<16x4xf32>) -> ()
      %4 = rt.view workspace at 0 : memref<16x4xf32>
      %5 = rt.view params at 0 : memref<4xf32>
      %6 = rt.view activations at 576 slot of saved stride 320 : memref<16x4xf32>
      rt.launch @scale(%4, %5, %6) args() writes [2] : (memref<16x4xf32>, memref<4xf32>, memref<16x4xf32>) -> ()
      %7 = rt.view activations at 576 slot of saved stride 320 : memref<16x4xf32>
      %8 = rt.view params at 0 : memref<4xf32>
      %9 = rt.view activations at 0 slot of send_activation stride 256 : memref<16x4xf32>
      rt.launch @scale(%7, %8, %9) args() writes [2] : (memref<16x4xf32>, memref<4xf32>, memref<16x4xf32>) -> ()
      return
    }
    func.func @stage0_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>, rt.collectives = []} {
      %1 = rt.view activations at 256 slot of recv_gradient stride 256 : memref<16x4xf32>
      %2 = rt.view activations at 576 slot of saved stride 320 : memref<16x4xf32>
      %3 = rt.view grads at 0 : memref<4xf32>
      %4 = rt.view workspace at 0 : memref<16x4xf32>
      rt.launch @scale_grad(%1, %2, %3, %4) args() writes [2, 3] : (memref<16x4xf32>, memref<16x4xf32>, memref<4xf32>, memref<16x4xf32>) -> ()
      %5 = rt.view workspace at 0 : memref<16x4xf32>
      %6 = rt.view activations at 576 slot of saved stride 320 : memref<16x4xf32>
      %7 = rt.view grads at 0 : memref<4xf32>
      %8 = rt.view workspace at 256 : memref<16x4xf32>
      rt.launch @pass_grad(%5, %6, %8) args() writes [2] : (memref<16x4xf32>, memref<16x4xf32>, memref<16x4xf32>) -> ()
      %9 = rt.view workspace at 0 : memref<16x4xf32>
      %10 = rt.view workspace at 256 : memref<16x4xf32>
      %11 = rt.view grads at 0 : memref<4xf32>
      %12 = rt.view workspace at 512 : memref<16x4xf32>
      rt.launch @pass_grad(%9, %10, %12) args() writes [2] : (memref<16x4xf32>, memref<16x4xf32>, memref<16x4xf32>) -> ()
      %13 = rt.view activations at 512 slot of saved stride 320 : memref<16xi32>
      %14 = rt.view grads at 64 : memref<16x4xf32>
      %15 = rt.view workspace at 512 : memref<16x4xf32>
      rt.launch @scatter(%13, %14, %15) args() writes [1] : (memref<16xi32>, memref<16x4xf32>, memref<16x4xf32>) -> ()
      return
    }
    func.func @stage0_eval() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = eval>, rt.collectives = []} {
      %1 = rt.view activations at 512 slot of saved stride 320 : memref<16xi32>
      %2 = rt.view params at 64 : memref<16x4xf32>
      %3 = rt.view workspace at 0 : memref<16x4xf32>
      rt.launch @gather(%1, %2, %3) args() writes [2] : (memref<16xi32>, memref<16x4xf32>, memref<16x4xf32>) -> ()
      %4 = rt.view workspace at 0 : memref<16x4xf32>
      %5 = rt.view params at 0 : memref<4xf32>
      %6 = rt.view workspace at 256 : memref<16x4xf32>
      rt.launch @scale(%4, %5, %6) args() writes [2] : (memref<16x4xf32>, memref<4xf32>, memref<16x4xf32>) -> ()
      %7 = rt.view workspace at 256 : memref<16x4xf32>
      %8 = rt.view params at 0 : memref<4xf32>
      %9 = rt.view activations at 0 slot of send_activation stride 256 : memref<16x4xf32>
      rt.launch @scale(%7, %8, %9) args() writes [2] : (memref<16x4xf32>, memref<4xf32>, memref<16x4xf32>) -> ()
      return
    }
    func.func @stage0_reduce() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = reduce>} {
      %1 = rt.view grads at 64 : memref<64xf32>
      rt.collective all_reduce %1 group embedding count 64 : (memref<64xf32>) -> ()
      rt.norm reset
      %at2, %local2, %n2 = rt.flat_range start 0 count 4
      %3 = rt.view grads at 0 : memref<4xf32>
      %4 = rt.offset_view %3 by %at2 : memref<4xf32> -> memref<4xf32>
      rt.norm accumulate of %4 : memref<4xf32> length %n2
      %at5, %local5, %n5 = rt.flat_range start 0 count 64
      %6 = rt.view grads at 64 : memref<64xf32>
      %7 = rt.offset_view %6 by %at5 : memref<64xf32> -> memref<64xf32>
      rt.norm accumulate of %7 : memref<64xf32> length %n5
      rt.collective norm_reduce group all count 1 : () -> ()
      rt.norm finish
      return
    }
    func.func @stage0_apply() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = apply>} {
      %at1, %local1, %n1 = rt.flat_range start 0 count 4
      %2 = rt.view params at 0 : memref<4xf32>
      %3 = rt.offset_view %2 by %at1 : memref<4xf32> -> memref<4xf32>
      %4 = rt.view grads at 0 : memref<4xf32>
      %5 = rt.offset_view %4 by %at1 : memref<4xf32> -> memref<4xf32>
      %6 = rt.view optimizer at 0 : memref<4xf32>
      %7 = rt.offset_view %6 by %local1 : memref<4xf32> -> memref<4xf32>
      %8 = rt.view optimizer at 64 : memref<4xf32>
      %9 = rt.offset_view %8 by %local1 : memref<4xf32> -> memref<4xf32>
      rt.launch @adamw(%3, %5, %7, %9) args(%n1) writes [0, 2, 3] : (memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
      %at10, %local10, %n10 = rt.flat_range start 0 count 64
      %11 = rt.view params at 64 : memref<64xf32>
      %12 = rt.offset_view %11 by %at10 : memref<64xf32> -> memref<64xf32>
      %13 = rt.view grads at 64 : memref<64xf32>
      %14 = rt.offset_view %13 by %at10 : memref<64xf32> -> memref<64xf32>
      %15 = rt.view optimizer at 128 : memref<64xf32>
      %16 = rt.offset_view %15 by %local10 : memref<64xf32> -> memref<64xf32>
      %17 = rt.view optimizer at 384 : memref<64xf32>
      %18 = rt.offset_view %17 by %local10 : memref<64xf32> -> memref<64xf32>
      rt.launch @adamw(%12, %14, %16, %18) args(%n10) writes [0, 2, 3] : (memref<64xf32>, memref<64xf32>, memref<64xf32>, memref<64xf32>) -> ()
      %19 = rt.view grads at 0 : memref<4xf32>
      rt.zero %19 guarded : (memref<4xf32>) -> ()
      %20 = rt.view grads at 64 : memref<64xf32>
      rt.zero %20 guarded : (memref<64xf32>) -> ()
      return
    }
    rt.input_slot "ids" at 512 slot of saved stride 320 entry "train"
    rt.input_slot "ids" at 512 slot of saved stride 320 entry "eval"
    rt.timeline @train {
      rt.step load microbatch 0 slots <send_activation = 0, saved = 0>
      rt.step run @stage0_fwd microbatch 0 slots <send_activation = 0, saved = 0>
      rt.exchange [#rt.transfer<send = true, peer = 1, tag = <value = activation, microbatch = 0, virtual_stage = 0>, offset = 0, bytes = 256>]
      rt.step load microbatch 1 slots <send_activation = 0, saved = 1>
      rt.step run @stage0_fwd microbatch 1 slots <send_activation = 0, saved = 1>
      rt.exchange [#rt.transfer<send = true, peer = 1, tag = <value = activation, microbatch = 1, virtual_stage = 0>, offset = 0, bytes = 256>, #rt.transfer<send = false, peer = 1, tag = <value = gradient, microbatch = 0, virtual_stage = 1>, offset = 256, bytes = 256>]
      rt.step run @stage0_bwd microbatch 0 slots <recv_gradient = 0, saved = 0>
      rt.exchange [#rt.transfer<send = false, peer = 1, tag = <value = gradient, microbatch = 1, virtual_stage = 1>, offset = 256, bytes = 256>]
      rt.step run @stage0_bwd microbatch 1 slots <recv_gradient = 0, saved = 1>
      rt.step run @stage0_reduce
      rt.step run @stage0_apply
    }
    rt.timeline @eval {
      rt.step load microbatch 0 slots <send_activation = 0, saved = 0>
      rt.step run @stage0_eval microbatch 0 slots <send_activation = 0, saved = 0>
      rt.exchange [#rt.transfer<send = true, peer = 1, tag = <value = activation, microbatch = 0, virtual_stage = 0>, offset = 0, bytes = 256>]
      rt.step load microbatch 1 slots <send_activation = 0, saved = 0>
      rt.step run @stage0_eval microbatch 1 slots <send_activation = 0, saved = 0>
      rt.exchange [#rt.transfer<send = true, peer = 1, tag = <value = activation, microbatch = 1, virtual_stage = 0>, offset = 0, bytes = 256>]
    }
  } {arenas = array<i64: 4096, 4096, 4096, 4096, 4096, 4096, 0>, loss_offset = 320 : i64}
  rt.program @stage1 stage 1 {
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
    rt.kernel @pass_grad rows 16 cols 4 args 0 [
        #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>,
        #rt.operand<mode = full, element = f32, extent = 0>] {
      %dy = rt.load 0 : f32
      %x = rt.load 1 : f32
      %dx = arith.mulf %dy, %x : f32
      rt.store 2, %dx : f32
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
    rt.bucket 0 elements 4 unpadded 4 shard 4 {param_offset = 0 : i64, grad_offset = 0 : i64, state_offsets = array<i64: 0, 64>, states = ["exp_avg", "exp_avg_sq"]}
    rt.bucket 1 elements 64 unpadded 64 shard 64 {param_offset = 64 : i64, grad_offset = 64 : i64, state_offsets = array<i64: 128, 384>, states = ["exp_avg", "exp_avg_sq"]}
    rt.param "layers.1.w" use 0 bucket 0 start 0
    rt.param "embed.tokens" use 1 bucket 1 start 0
    func.func @stage1_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = forward>, rt.collectives = []} {
      %1 = rt.view activations at 0 slot of recv_activation stride 256 : memref<16x4xf32>
      %2 = rt.view params at 0 : memref<4xf32>
      %3 = rt.view workspace at 0 : memref<16x4xf32>
      rt.launch @scale(%1, %2, %3) args() writes [2] : (memref<16x4xf32>, memref<4xf32>, memref<16x4xf32>) -> ()
      %4 = rt.view workspace at 0 : memref<16x4xf32>
      %5 = rt.view params at 0 : memref<4xf32>
      %6 = rt.view activations at 576 slot of saved stride 320 : memref<16x4xf32>
      rt.launch @scale(%4, %5, %6) args() writes [2] : (memref<16x4xf32>, memref<4xf32>, memref<16x4xf32>) -> ()
      %7 = rt.view activations at 576 slot of saved stride 320 : memref<16x4xf32>
      %8 = rt.view activations at 512 slot of saved stride 320 : memref<16xi32>
      %9 = rt.view grads at 320 : memref<f32>
      rt.launch @loss(%7, %8, %9) args() writes [2] : (memref<16x4xf32>, memref<16xi32>, memref<f32>) -> ()
      return
    }
    func.func @stage1_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = backward>, rt.collectives = []} {
      %1 = rt.view activations at 0 slot of recv_activation stride 256 : memref<16x4xf32>
      %2 = rt.view activations at 576 slot of saved stride 320 : memref<16x4xf32>
      %3 = rt.view grads at 0 : memref<4xf32>
      %4 = rt.view workspace at 0 : memref<16x4xf32>
      rt.launch @scale_grad(%1, %2, %3, %4) args() writes [2, 3] : (memref<16x4xf32>, memref<16x4xf32>, memref<4xf32>, memref<16x4xf32>) -> ()
      %5 = rt.view activations at 512 slot of saved stride 320 : memref<16xi32>
      %6 = rt.view grads at 64 : memref<16x4xf32>
      %7 = rt.view workspace at 0 : memref<16x4xf32>
      rt.launch @scatter(%5, %6, %7) args() writes [1] : (memref<16xi32>, memref<16x4xf32>, memref<16x4xf32>) -> ()
      %8 = rt.view workspace at 0 : memref<16x4xf32>
      %9 = rt.view activations at 576 slot of saved stride 320 : memref<16x4xf32>
      %10 = rt.view grads at 0 : memref<4xf32>
      %11 = rt.view activations at 256 slot of send_gradient stride 256 : memref<16x4xf32>
      rt.launch @pass_grad(%8, %9, %11) args() writes [2] : (memref<16x4xf32>, memref<16x4xf32>, memref<16x4xf32>) -> ()
      return
    }
    func.func @stage1_eval() attributes {pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = eval>, rt.collectives = []} {
      %1 = rt.view activations at 0 slot of recv_activation stride 256 : memref<16x4xf32>
      %2 = rt.view params at 0 : memref<4xf32>
      %3 = rt.view workspace at 0 : memref<16x4xf32>
      rt.launch @scale(%1, %2, %3) args() writes [2] : (memref<16x4xf32>, memref<4xf32>, memref<16x4xf32>) -> ()
      %4 = rt.view workspace at 0 : memref<16x4xf32>
      %5 = rt.view params at 0 : memref<4xf32>
      %6 = rt.view workspace at 256 : memref<16x4xf32>
      rt.launch @scale(%4, %5, %6) args() writes [2] : (memref<16x4xf32>, memref<4xf32>, memref<16x4xf32>) -> ()
      %7 = rt.view workspace at 256 : memref<16x4xf32>
      %8 = rt.view activations at 512 slot of saved stride 320 : memref<16xi32>
      %9 = rt.view grads at 320 : memref<f32>
      rt.launch @loss(%7, %8, %9) args() writes [2] : (memref<16x4xf32>, memref<16xi32>, memref<f32>) -> ()
      return
    }
    func.func @stage1_reduce() attributes {pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = reduce>} {
      %1 = rt.view grads at 64 : memref<64xf32>
      rt.collective all_reduce %1 group embedding count 64 : (memref<64xf32>) -> ()
      rt.norm reset
      %loss = rt.view grads at 320 : memref<f32>
      rt.norm check of %loss : memref<f32>
      %at2, %local2, %n2 = rt.flat_range start 0 count 4
      %3 = rt.view grads at 0 : memref<4xf32>
      %4 = rt.offset_view %3 by %at2 : memref<4xf32> -> memref<4xf32>
      rt.norm accumulate of %4 : memref<4xf32> length %n2
      rt.collective norm_reduce group all count 1 : () -> ()
      rt.norm finish
      return
    }
    func.func @stage1_apply() attributes {pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = apply>} {
      %at1, %local1, %n1 = rt.flat_range start 0 count 4
      %2 = rt.view params at 0 : memref<4xf32>
      %3 = rt.offset_view %2 by %at1 : memref<4xf32> -> memref<4xf32>
      %4 = rt.view grads at 0 : memref<4xf32>
      %5 = rt.offset_view %4 by %at1 : memref<4xf32> -> memref<4xf32>
      %6 = rt.view optimizer at 0 : memref<4xf32>
      %7 = rt.offset_view %6 by %local1 : memref<4xf32> -> memref<4xf32>
      %8 = rt.view optimizer at 64 : memref<4xf32>
      %9 = rt.offset_view %8 by %local1 : memref<4xf32> -> memref<4xf32>
      rt.launch @adamw(%3, %5, %7, %9) args(%n1) writes [0, 2, 3] : (memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
      %at10, %local10, %n10 = rt.flat_range start 0 count 64
      %11 = rt.view params at 64 : memref<64xf32>
      %12 = rt.offset_view %11 by %at10 : memref<64xf32> -> memref<64xf32>
      %13 = rt.view grads at 64 : memref<64xf32>
      %14 = rt.offset_view %13 by %at10 : memref<64xf32> -> memref<64xf32>
      %15 = rt.view optimizer at 128 : memref<64xf32>
      %16 = rt.offset_view %15 by %local10 : memref<64xf32> -> memref<64xf32>
      %17 = rt.view optimizer at 384 : memref<64xf32>
      %18 = rt.offset_view %17 by %local10 : memref<64xf32> -> memref<64xf32>
      rt.launch @adamw(%12, %14, %16, %18) args(%n10) writes [0, 2, 3] : (memref<64xf32>, memref<64xf32>, memref<64xf32>, memref<64xf32>) -> ()
      %19 = rt.view grads at 0 : memref<4xf32>
      rt.zero %19 guarded : (memref<4xf32>) -> ()
      %20 = rt.view grads at 64 : memref<64xf32>
      rt.zero %20 guarded : (memref<64xf32>) -> ()
      return
    }
    rt.input_slot "labels" at 512 slot of saved stride 320 entry "train"
    rt.input_slot "labels" at 512 slot of saved stride 320 entry "eval"
    rt.export_slot "logits" of @stage1_eval workspace at 256 local tensor<16x4xf32>
    rt.timeline @train {
      rt.exchange [#rt.transfer<send = false, peer = 0, tag = <value = activation, microbatch = 0, virtual_stage = 0>, offset = 0, bytes = 256>]
      rt.step load microbatch 0 slots <recv_activation = 0, saved = 0>
      rt.step run @stage1_fwd microbatch 0 slots <recv_activation = 0, saved = 0>
      rt.step run @stage1_bwd microbatch 0 slots <recv_activation = 0, send_gradient = 0, saved = 0>
      rt.exchange [#rt.transfer<send = false, peer = 0, tag = <value = activation, microbatch = 1, virtual_stage = 0>, offset = 0, bytes = 256>, #rt.transfer<send = true, peer = 0, tag = <value = gradient, microbatch = 0, virtual_stage = 1>, offset = 256, bytes = 256>]
      rt.step load microbatch 1 slots <recv_activation = 0, saved = 1>
      rt.step run @stage1_fwd microbatch 1 slots <recv_activation = 0, saved = 1>
      rt.step run @stage1_bwd microbatch 1 slots <recv_activation = 0, send_gradient = 0, saved = 1>
      rt.exchange [#rt.transfer<send = true, peer = 0, tag = <value = gradient, microbatch = 1, virtual_stage = 1>, offset = 256, bytes = 256>]
      rt.step run @stage1_reduce
      rt.step run @stage1_apply
    }
    rt.timeline @eval {
      rt.exchange [#rt.transfer<send = false, peer = 0, tag = <value = activation, microbatch = 0, virtual_stage = 0>, offset = 0, bytes = 256>]
      rt.step load microbatch 0 slots <recv_activation = 0, saved = 0>
      rt.step run @stage1_eval microbatch 0 slots <recv_activation = 0, saved = 0>
      rt.exchange [#rt.transfer<send = false, peer = 0, tag = <value = activation, microbatch = 1, virtual_stage = 0>, offset = 0, bytes = 256>]
      rt.step load microbatch 1 slots <recv_activation = 0, saved = 0>
      rt.step run @stage1_eval microbatch 1 slots <recv_activation = 0, saved = 0>
    }
  } {arenas = array<i64: 4096, 4096, 4096, 4096, 4096, 4096, 0>, loss_offset = 320 : i64}
}
