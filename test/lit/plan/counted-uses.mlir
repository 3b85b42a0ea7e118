// RUN: mtc-opt %s --count-gradients | FileCheck %s
// RUN: sed -e 's/x86-64-v4/x86-64-v3/' %s | mtc-opt --count-gradients | FileCheck %s --check-prefix=BEHIND
// RUN: sed -e '/^    pipe.timeline/,/^    }/d' %s | mtc-opt --count-gradients | FileCheck %s --check-prefix=BEHIND
// RUN: sed -e 's/start 0 count 320/start 1 count 9223372036854775807/' %s | mtc-opt --count-gradients | FileCheck %s --check-prefix=BEHIND
// Tests that a product counts only what it ends: not the first of two in a fragment, nor one
// that a kernel follows or that two chunks have, nor what a library makes.

// CHECK-LABEL: func.func @stage0_bwd()
// CHECK: rt.gemm {{.*}} into %[[W:.*]] m {{.*}} by own {beta = true, counts_last, ta
// CHECK-NEXT: rt.gemm {{.*}} by own {beta = true, ta
// CHECK-NEXT: rt.gemm {{.*}} by own {beta = true, ta
// CHECK-NEXT: rt.gemm {{.*}} by own {beta = true, ta
// CHECK-NEXT: rt.launch
// CHECK-NEXT: rt.gemm {{.*}} k 8 {beta = true, ta
// CHECK-NEXT: rt.gemm {{.*}} by own {beta = true, ta
// CHECK-LABEL: func.func @stage0_chunk1_bwd()
// CHECK-NOT: counts_last
// CHECK-LABEL: func.func @stage0_reduce()
// CHECK: rt.flat_range start 64 count 256
// CHECK-COUNT-1: rt.norm accumulate
// CHECK: rt.norm reset

// BEHIND-NOT: counts_last
// BEHIND: rt.norm accumulate
// BEHIND: rt.norm reset

#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 2, microbatches = 2, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "interleaved-1f1b", chunks = 2, layers_per_stage = [1, 1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v4", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    rt.bucket 0 elements 320 unpadded 320 shard 320
    rt.param "w" use 0 bucket 0 start 0
    rt.param "v" use 0 bucket 0 start 64
    rt.param "u" use 0 bucket 0 start 128
    rt.param "l" use 0 bucket 0 start 192
    rt.param "c" use 0 bucket 0 start 256
    rt.kernel @kernel0 rows 8 cols 8 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
      %0 = rt.load 0 : f32
      rt.accumulate 1, %0 : f32
    }
    func.func @stage0_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
      %x = pipe.param "v" : tensor<8x8xf32>
      %w = rt.ref grad for "w" use 0 : memref<8x8xf32>
      %v = rt.ref grad for "v" use 0 : memref<8x8xf32>
      %u = rt.ref grad for "u" use 0 : memref<8x8xf32>
      %l = rt.ref grad for "l" use 0 : memref<8x8xf32>
      %c = rt.ref grad for "c" use 0 : memref<8x8xf32>
      rt.gemm %x, %x into %w m 8 n 8 k 8 by own {ta = false, tb = false, beta = true} : (tensor<8x8xf32>, tensor<8x8xf32>, memref<8x8xf32>) -> ()
      rt.gemm %x, %x into %v m 8 n 8 k 8 by own {ta = false, tb = false, beta = true} : (tensor<8x8xf32>, tensor<8x8xf32>, memref<8x8xf32>) -> ()
      rt.gemm %x, %x into %v m 8 n 8 k 8 by own {ta = false, tb = false, beta = true} : (tensor<8x8xf32>, tensor<8x8xf32>, memref<8x8xf32>) -> ()
      rt.gemm %x, %x into %u m 8 n 8 k 8 by own {ta = false, tb = false, beta = true} : (tensor<8x8xf32>, tensor<8x8xf32>, memref<8x8xf32>) -> ()
      rt.launch @kernel0(%x, %u) args() writes [1] : (tensor<8x8xf32>, memref<8x8xf32>) -> ()
      rt.gemm %x, %x into %l m 8 n 8 k 8 {ta = false, tb = false, beta = true} : (tensor<8x8xf32>, tensor<8x8xf32>, memref<8x8xf32>) -> ()
      rt.gemm %x, %x into %c m 8 n 8 k 8 by own {ta = false, tb = false, beta = true} : (tensor<8x8xf32>, tensor<8x8xf32>, memref<8x8xf32>) -> ()
      return
    }
    func.func @stage0_chunk1_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 1, phase = backward>} {
      %x = pipe.param "v" : tensor<8x8xf32>
      %c = rt.ref grad for "c" use 0 : memref<8x8xf32>
      rt.gemm %x, %x into %c m 8 n 8 k 8 by own {ta = false, tb = false, beta = true} : (tensor<8x8xf32>, tensor<8x8xf32>, memref<8x8xf32>) -> ()
      return
    }
    func.func @stage0_reduce() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = reduce>} {
      rt.norm reset
      %g = rt.ref grad of 0 : memref<320xf32>
      %at, %local, %length = rt.flat_range start 0 count 320
      %view = rt.offset_view %g by %at : memref<320xf32> -> memref<320xf32>
      rt.norm accumulate of %view : memref<320xf32> length %length
      rt.collective norm_reduce group all count 1 : () -> ()
      rt.norm finish
      return
    }
    func.func @stage0_apply() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = apply>} {
      return
    }
    pipe.timeline @train_stage0 entry "train" stage 0 pools <> {
      pipe.slot "B" microbatch 0 chunk 1 slots <>
      pipe.slot "B" microbatch 0 chunk 0 slots <>
      pipe.slot "B" microbatch 1 chunk 1 slots <>
      pipe.slot "B" microbatch 1 chunk 0 slots <>
    }
  }
}
