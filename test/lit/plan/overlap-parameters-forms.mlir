// RUN: mtc-opt %s --overlap-parameters | FileCheck %s
// RUN: sed -e '/microbatch 2/d' %s | mtc-opt --overlap-parameters | FileCheck %s --check-prefix=ONCE
// Tests which buckets forwards of two forms gather: a chunk's first slot those that its form
// reads, and another form one of its own if it runs once.

// CHECK-LABEL: func.func @stage0_fwd()
// CHECK-NOT: rt.collective
// CHECK-LABEL: func.func @stage0_fwd_first()
// CHECK: rt.ref param of 0
// CHECK-NEXT: rt.collective all_gather
// CHECK-NOT: rt.collective
// CHECK-LABEL: func.func @stage0_fwd_recompute()
// CHECK-NOT: rt.collective
// CHECK-LABEL: func.func @stage0_apply()
// CHECK-NOT: rt.ref param of 0
// CHECK: rt.ref param of 1
// CHECK-NEXT: rt.collective all_gather
// CHECK-NOT: func.func

// ONCE-LABEL: func.func @stage0_fwd_first()
// ONCE-LABEL: func.func @stage0_fwd_recompute()
// ONCE: rt.ref param of 1
// ONCE-NEXT: rt.collective all_gather
// ONCE-LABEL: func.func @stage0_apply()
// ONCE-NOT: rt.collective

#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 2, pp = 1>, batch = <micro = 2, microbatches = 4, global = 16, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [2]>,
  optimizer = <kind = adamw, zero = 1, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>,
  overlap = ["param-gather"]>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    rt.bucket 0 elements 64 unpadded 64 shard 32
    rt.bucket 1 elements 64 unpadded 64 shard 32
    rt.param "w" use 0 bucket 0 start 0
    rt.param "v" use 0 bucket 1 start 0
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %w = pipe.param "w" : tensor<8x8xf32>
      %e = tensor.empty() : tensor<8x8xf32>
      %1 = rt.gemm %w, %w into %e m 8 n 8 k 8 {ta = false, tb = false, beta = false} : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      return
    }
    func.func @stage0_fwd_recompute() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward, form = recompute>} {
      %w = pipe.param "w" : tensor<8x8xf32>
      %v = pipe.param "v" : tensor<8x8xf32>
      %e = tensor.empty() : tensor<8x8xf32>
      %1 = rt.gemm %w, %v into %e m 8 n 8 k 8 {ta = false, tb = false, beta = false} : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      return
    }
    func.func @stage0_apply() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = apply>} {
      %p0 = rt.ref param of 0 : memref<64xf32>
      rt.collective all_gather %p0 group dp count 32 {origin = "zero1"} : (memref<64xf32>) -> ()
      %p1 = rt.ref param of 1 : memref<64xf32>
      rt.collective all_gather %p1 group dp count 32 {origin = "zero1"} : (memref<64xf32>) -> ()
      return
    }
    pipe.timeline @train_stage0 entry "train" stage 0 pools <> {
      pipe.slot "F" microbatch 0 chunk 0 slots <>
      pipe.slot "F" microbatch 1 chunk 0 form recompute slots <>
      pipe.slot "F" microbatch 2 chunk 0 form recompute slots <>
      pipe.slot "F" microbatch 3 chunk 0 slots <>
    }
  }
}
