// RUN: mtc-opt %s --store-gradients | FileCheck %s
// RUN: mtc-opt %s --store-gradients --assign-streams --plan-memory | FileCheck %s --check-prefix=BYTES
// RUN: sed -e '/"B" microbatch 0 chunk 0/d' %s | mtc-opt --store-gradients | FileCheck %s --check-prefix=LATE
// RUN: sed -e '/^    pipe.timeline/,/^    }/d' %s | mtc-opt --store-gradients | FileCheck %s --check-prefix=NONE
// Tests that the first microbatch stores what only products make, that all forms of a
// fragment do, and that the update clears the rest of a bucket, its padding included. Sums
// that a kernel makes are cleared, and those of a product and a kernel; so is all of a chunk
// whose first microbatch is another.

// CHECK-LABEL: func.func @stage0_bwd()
// CHECK: rt.gemm {{.*}}{beta = true, stores_first, ta = false, tb = false}
// CHECK-NEXT: rt.gemm {{.*}}{beta = true, ta = false, tb = false}
// CHECK-LABEL: func.func @stage0_bwd_last()
// CHECK: rt.gemm {{.*}}{beta = true, stores_first, ta = false, tb = false}
// CHECK-LABEL: func.func @stage0_chunk1_bwd()
// CHECK: rt.gemm {{.*}}{beta = true, ta = false, tb = false}
// CHECK-LABEL: func.func @stage0_apply()
// CHECK-NEXT: %[[A:.*]] = rt.ref grad of 0 from 0 : memref<64xf32>
// CHECK-NEXT: rt.zero %[[A]] guarded
// CHECK-NEXT: %[[B:.*]] = rt.ref grad of 0 from 128 : memref<72xf32>
// CHECK-NEXT: rt.zero %[[B]] guarded
// CHECK-NEXT: %[[C:.*]] = rt.ref grad of 1 : memref<64xf32>
// CHECK-NEXT: rt.zero %[[C]] guarded
// CHECK-NEXT: return

// BYTES-LABEL: func.func @stage0_apply()
// BYTES: rt.view grads at 0 : memref<64xf32>
// BYTES: rt.view grads at 512 : memref<72xf32>

// Once more: what is cleared already stays as it is.
// RUN: mtc-opt %s --store-gradients | mtc-opt --store-gradients | FileCheck %s

// Two products of a fragment: the second adds to the first.
// RUN: sed -e 's/rt.launch @kernel0(%x, %u) args() writes .1. : (tensor<8x8xf32>, memref<8x8xf32>)/rt.gemm %x, %x into %u m 8 n 8 k 8 by own {ta = false, tb = false, beta = true} : (tensor<8x8xf32>, tensor<8x8xf32>, memref<8x8xf32>)/' %s | mtc-opt --store-gradients | FileCheck %s --check-prefix=TWO
// TWO-LABEL: func.func @stage0_bwd()
// TWO: rt.gemm {{.*}}stores_first
// TWO-COUNT-2: rt.gemm {{.*}}{beta = true, ta = false, tb = false}

// LATE-NOT: stores_first
// LATE: rt.ref grad of 0 : memref<200xf32>
// NONE-NOT: stores_first
// NONE: rt.ref grad of 0 : memref<200xf32>

// RUN: sed -e "s/beta = true/beta = false, stores_first/" %s | not mtc-opt 2>&1 | FileCheck %s --check-prefix=BETA
// BETA: 'rt.gemm' op expected a product that is added to c (beta) where the first microbatch stores it
// RUN: sed -e 's/ref grad of 1 :/ref param of 1 from 8 :/' %s | not mtc-opt 2>&1 | FileCheck %s --check-prefix=FROM
// FROM: 'rt.ref' op expected a first element of 0 or more, of gradients only, found 8 of param

#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 2, microbatches = 2, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "interleaved-1f1b", chunks = 2, layers_per_stage = [1, 1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    rt.bucket 0 elements 200 unpadded 192 shard 200
    rt.bucket 1 elements 64 unpadded 64 shard 64
    rt.param "v" use 0 bucket 0 start 0
    rt.param "w" use 0 bucket 0 start 64
    rt.param "u" use 0 bucket 0 start 128
    rt.param "c" use 0 bucket 1 start 0
    rt.kernel @kernel0 rows 8 cols 8 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
      %0 = rt.load 0 : f32
      rt.accumulate 1, %0 : f32
    }
    func.func @stage0_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
      %x = pipe.param "v" : tensor<8x8xf32>
      %v = rt.ref grad for "v" use 0 : memref<8x8xf32>
      %w = rt.ref grad for "w" use 0 : memref<8x8xf32>
      %u = rt.ref grad for "u" use 0 : memref<8x8xf32>
      rt.gemm %x, %x into %w m 8 n 8 k 8 by own {ta = false, tb = false, beta = true} : (tensor<8x8xf32>, tensor<8x8xf32>, memref<8x8xf32>) -> ()
      rt.gemm %x, %x into %u m 8 n 8 k 8 by own {ta = false, tb = false, beta = true} : (tensor<8x8xf32>, tensor<8x8xf32>, memref<8x8xf32>) -> ()
      rt.launch @kernel0(%x, %u) args() writes [1] : (tensor<8x8xf32>, memref<8x8xf32>) -> ()
      rt.launch @kernel0(%x, %v) args() writes [1] : (tensor<8x8xf32>, memref<8x8xf32>) -> ()
      return
    }
    func.func @stage0_bwd_last() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward, form = last>} {
      %x = pipe.param "v" : tensor<8x8xf32>
      %w = rt.ref grad for "w" use 0 : memref<8x8xf32>
      rt.gemm %x, %x into %w m 8 n 8 k 8 by own {ta = false, tb = false, beta = true} : (tensor<8x8xf32>, tensor<8x8xf32>, memref<8x8xf32>) -> ()
      return
    }
    func.func @stage0_chunk1_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 1, phase = backward>} {
      %x = pipe.param "v" : tensor<8x8xf32>
      %c = rt.ref grad for "c" use 0 : memref<8x8xf32>
      rt.gemm %x, %x into %c m 8 n 8 k 8 by own {ta = false, tb = false, beta = true} : (tensor<8x8xf32>, tensor<8x8xf32>, memref<8x8xf32>) -> ()
      return
    }
    func.func @stage0_reduce() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = reduce>} {
      return
    }
    func.func @stage0_apply() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = apply>} {
      %g0 = rt.ref grad of 0 : memref<200xf32>
      rt.zero %g0 guarded : (memref<200xf32>) -> ()
      %g1 = rt.ref grad of 1 : memref<64xf32>
      rt.zero %g1 guarded : (memref<64xf32>) -> ()
      return
    }
    pipe.timeline @train_stage0 entry "train" stage 0 pools <> {
      pipe.slot "B" microbatch 1 chunk 1 slots <>
      pipe.slot "B" microbatch 0 chunk 0 slots <>
      pipe.slot "B" microbatch 0 chunk 1 slots <>
      pipe.slot "B" microbatch 1 chunk 0 slots <>
    }
  }
}
