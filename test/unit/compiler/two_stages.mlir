// Two stages of nothing but the plan around fragments: what the descriptor, the
// tables, the report and the simulation read.
#config = #mtc.config<model = <name = "hand", layers = 2, hidden = 8, vocab = 30, padded_vocab = 30>,
  mesh = <tp = 2, cp = 1, dp = 2, pp = 2>, batch = <micro = 2, microbatches = 2, global = 8, sequence = 8>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1, 1]>,
  optimizer = <kind = adamw, zero = 1, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1, gemm = own>>
module attributes {
  mtc.phase = "verify-plan", dist.mesh = #dist.mesh<["dp" = 2, "tp" = 2]>,
  mtc.config = #config} {
  pipe.parameter #tfm.param<name = "embed.tokens", axes = ["vocab", "embed"], init = normal, std = 2.0e-02 : f64, decay = true> sharding #dist.sharding<[{}, {"tp"}]> local tensor<12x4xf32>
  pipe.parameter #tfm.param<name = "final_norm.scale", axes = ["embed"], init = ones, std = 0.0 : f64, decay = false> local tensor<8xf32>
  rt.program @stage0 stage 0 {
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = rt.view workspace at 0 : memref<16x16xf32>
      %a = rt.view workspace at 1024 : memref<8x16xf32>
      %c = rt.view grads at 0 : memref<16x8xf32>
      %s = rt.view workspace at 1536 : memref<64xi8>
      rt.gemm %x, %a into %c scratch %s m 16 n 8 k 16 by own {ta = false, tb = true, beta = true} : (memref<16x16xf32>, memref<8x16xf32>, memref<16x8xf32>, memref<64xi8>) -> ()
      rt.collective all_reduce %x group tp count 256 {origin = "g"} : (memref<16x16xf32>) -> ()
      return
    }
    func.func @stage0_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
      return
    }
    func.func @reduce() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = reduce>} {
      %g = rt.view grads at 0 : memref<128xf32>
      rt.collective reduce_scatter %g group dp count 64 : (memref<128xf32>) -> ()
      rt.collective norm_reduce group all count 1 : () -> ()
      return
    }
    func.func @apply() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = apply>} {
      return
    }
    rt.bucket 0 elements 128 unpadded 100 shard 64 {param_offset = 0 : i64, grad_offset = 0 : i64, state_offsets = array<i64: 0, 256>, states = ["exp_avg", "exp_avg_sq"]}
    rt.bucket 1 elements 128 unpadded 96 shard 64 second_use_of 0 {grad_offset = 512 : i64}
    rt.param "embed.tokens" use 0 bucket 0 start 0
    rt.param "embed.tokens" use 1 bucket 1 start 0
    rt.input_slot "ids" at 64 slot of saved stride 4096 entry "train"
    rt.timeline @train {
      rt.step load microbatch 0 slots <saved = 0>
      rt.step run @stage0_fwd microbatch 0 slots <send_activation = 0, saved = 0>
      rt.exchange [#rt.transfer<send = true, peer = 1, tag = <value = activation, microbatch = 7, virtual_stage = 0>, offset = 8192, bytes = 512>]
      rt.step run @stage0_fwd microbatch 1 slots <send_activation = 0, saved = 1>
      rt.exchange [#rt.transfer<send = true, peer = 1, tag = <value = activation, microbatch = 8, virtual_stage = 0>, offset = 8192, bytes = 512>, #rt.transfer<send = false, peer = 1, tag = <value = activation, microbatch = 9, virtual_stage = 0>, offset = 8704, bytes = 512>]
      rt.step run @reduce
      rt.step run @apply
    }
  } {arenas = array<i64: 4096, 4096, 4096, 12288, 4096, 4096, 0>, loss_offset = 1024 : i64}
  rt.program @stage1 stage 1 {
    func.func @stage1_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = forward>} {
      return
    }
    func.func @stage1_eval() attributes {pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = eval>} {
      return
    }
    rt.param "embed.tokens" use 2 bucket 0 start 0
    rt.param "final_norm.scale" use 0 bucket 0 start 48
    rt.bucket 0 elements 64 unpadded 56 shard 32 {param_offset = 0 : i64, grad_offset = 0 : i64, state_offsets = array<i64: 0, 128>, states = ["exp_avg", "exp_avg_sq"]}
    rt.export_slot "logits" of @stage1_eval workspace at 0 sharding #dist.sharding<[{}, {}, {"tp"}]> local tensor<2x8x16xf32>
    rt.timeline @train {
      rt.exchange [#rt.transfer<send = false, peer = 0, tag = <value = activation, microbatch = 7, virtual_stage = 0>, offset = 0, bytes = 512>]
      rt.step run @stage1_fwd microbatch 0 slots <recv_activation = 0, saved = 0>
      rt.exchange [#rt.transfer<send = false, peer = 0, tag = <value = activation, microbatch = 8, virtual_stage = 0>, offset = 0, bytes = 512>, #rt.transfer<send = true, peer = 0, tag = <value = activation, microbatch = 9, virtual_stage = 0>, offset = 512, bytes = 512>]
      rt.step run @stage1_fwd microbatch 1 slots <recv_activation = 0, saved = 0>
    }
    rt.timeline @eval {
      rt.step run @stage1_eval microbatch 0 slots <saved = 0>
    }
  } {arenas = array<i64: 4096, 4096, 4096, 4096, 4096, 4096, 0>, loss_offset = 256 : i64}
}
