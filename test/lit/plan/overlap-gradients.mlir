// RUN: mtc-opt %s --overlap-gradients | FileCheck %s
// RUN: mtc-opt %s --overlap-gradients --assign-streams --plan-memory | FileCheck %s --check-prefix=ROWS
// RUN: sed -e 's/microbatches = 2, global = 8/microbatches = 1, global = 4/' %s | mtc-opt --overlap-gradients | FileCheck %s --check-prefix=ONE
// RUN: sed -e 's/"grad-reduce"/"p2p"/' %s | mtc-opt --overlap-gradients | FileCheck %s --check-prefix=PLAIN
// RUN: sed -e 's/zero = 0/zero = 2/' %s | mtc-opt --overlap-gradients | FileCheck %s --check-prefix=PLAIN
// Tests that the last microbatch has a backward of its own, in which the sums of a bucket
// stand behind the op that makes its last gradient; and what stays in the update: sums of
// a bucket that two fragments make, sums between stages, and those behind another reader.

// Backwards of the other microbatches stay as they are.
// CHECK-LABEL: func.func @stage0_bwd()
// CHECK-NOT: rt.collective
// CHECK-LABEL: func.func @stage0_bwd_last() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward, form = last>}
// CHECK: rt.launch @bias(%{{.*}}, %{{.*}}) args()
// CHECK-NEXT: %[[G:.*]] = rt.ref grad of 0 : memref<128xf32>
// CHECK-NEXT: rt.collective all_reduce %[[G]] group dp count 128 {origin = "gradient"}
// CHECK-NEXT: rt.launch @both
// CHECK-NEXT: %[[G:.*]] = rt.ref grad of 1 : memref<8xf32>
// CHECK-NEXT: rt.collective all_reduce %[[G]] group dp count 8
// CHECK-NEXT: %[[G:.*]] = rt.ref grad of 1 : memref<8xf32>
// CHECK-NEXT: %[[AT:.*]], %{{.*}}, %{{.*}} = rt.flat_range start 0 count 8
// CHECK-NEXT: %[[MOVED:.*]] = rt.offset_view %[[G]] by %[[AT]]
// CHECK-NEXT: rt.collective all_reduce %[[MOVED]] group tp count 8
// CHECK-NEXT: %[[G:.*]] = rt.ref grad of 2 : memref<8xf32>
// CHECK-NEXT: rt.collective all_reduce %[[G]] group dp count 8
// CHECK-NEXT: rt.gemm
// CHECK-NEXT: return
// A bucket of two fragments gives neither of them another form.
// CHECK-LABEL: func.func @stage0_other()
// CHECK-NOT: rt.collective
// CHECK-LABEL: func.func @stage0_reduce()
// CHECK-NEXT: %[[L:.*]] = rt.ref loss
// CHECK-NEXT: rt.collective all_reduce %[[L]] group dp count 1
// CHECK-NEXT: %{{.*}}, %{{.*}}, %[[LENGTH:.*]] = rt.flat_range
// CHECK-NEXT: rt.norm reset
// CHECK-NEXT: %[[G:.*]] = rt.ref grad of 2 : memref<8xf32>
// CHECK-NEXT: rt.norm accumulate of %[[G]] : memref<8xf32> length %[[LENGTH]]
// CHECK-NEXT: rt.collective all_reduce %[[G]] group tp count 8
// CHECK-NEXT: %[[G:.*]] = rt.ref grad of 3 : memref<8xf32>
// CHECK-NEXT: rt.collective all_reduce %[[G]] group dp count 8
// CHECK-NEXT: %[[G:.*]] = rt.ref grad of 1 : memref<8xf32>
// CHECK-NEXT: rt.collective all_reduce %[[G]] group embedding count 8
// CHECK-NEXT: return

// ROWS: rt.step run @stage0_bwd microbatch 0
// ROWS-NEXT: rt.step run @stage0_other microbatch 0
// ROWS-NEXT: rt.step run @stage0_bwd_last microbatch 1
// ROWS-NEXT: rt.step run @stage0_other microbatch 1

// With one microbatch the backward is the last.
// ONE-LABEL: func.func @stage0_bwd()
// ONE-COUNT-4: rt.collective
// ONE-NOT: rt.collective
// ONE: func.func @stage0_other()
// ONE-NOT: _last

// PLAIN-LABEL: func.func @stage0_bwd()
// PLAIN-NOT: rt.collective
// PLAIN-LABEL: func.func @stage0_other()
// PLAIN-NOT: rt.collective
// PLAIN-LABEL: func.func @stage0_reduce()
// PLAIN-COUNT-8: rt.collective
// PLAIN-NOT: rt.collective

// A bucket that is not there.
// RUN: sed -e '/rt.param "w"/d' %s | not mtc-opt --overlap-gradients 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: 'rt.ref' op expected a bucket for use 0 of the parameter "w", found none in this program

// Only backwards have a form of the last microbatch.
// RUN: sed -e 's/phase = reduce>/phase = reduce, form = last>/' %s | not mtc-opt 2>&1 | FileCheck %s --check-prefix=LAST
// LAST: 'func.func' op expected only a backward to have a form of the last microbatch (form = last), found phase reduce

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 2, cp = 1, dp = 2, pp = 1>, batch = <micro = 2, microbatches = 2, global = 8, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>,
  overlap = ["grad-reduce"]>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    rt.kernel @bias rows 8 cols 8 args 0 [
        #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] {
      %x = rt.load 0 : f32
      rt.accumulate 1, %x : f32
    }
    rt.kernel @both rows 8 cols 8 args 0 [
        #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>,
        #rt.operand<mode = col, element = f32, extent = 0>] {
      %x = rt.load 0 : f32
      rt.accumulate 1, %x : f32
      rt.accumulate 2, %x : f32
    }
    rt.bucket 0 elements 128 unpadded 72 shard 128
    rt.bucket 1 elements 8 unpadded 8 shard 8
    rt.bucket 2 elements 8 unpadded 8 shard 8
    rt.bucket 3 elements 8 unpadded 8 shard 8
    rt.param "w" use 0 bucket 0 start 0
    rt.param "u" use 0 bucket 0 start 64
    rt.param "b" use 0 bucket 1 start 0
    rt.param "c" use 0 bucket 2 start 0
    rt.param "s" use 0 bucket 3 start 0
    rt.param "t" use 0 bucket 3 start 4
    func.func @stage0_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
      %w = rt.ref grad for "w" use 0 : memref<8x8xf32>
      %u = rt.ref grad for "u" use 0 : memref<8xf32>
      %b = rt.ref grad for "b" use 0 : memref<8xf32>
      %c = rt.ref grad for "c" use 0 : memref<8xf32>
      %s = rt.ref grad for "s" use 0 : memref<2x2xf32>
      %e = tensor.empty() : tensor<8x8xf32>
      %x = rt.zero %e : (tensor<8x8xf32>) -> tensor<8x8xf32>
      rt.gemm %x, %x into %w m 8 n 8 k 8 by own {ta = false, tb = false, beta = true} : (tensor<8x8xf32>, tensor<8x8xf32>, memref<8x8xf32>) -> ()
      rt.launch @bias(%x, %u) args() writes [1] : (tensor<8x8xf32>, memref<8xf32>) -> ()
      rt.launch @both(%x, %b, %c) args() writes [1, 2] : (tensor<8x8xf32>, memref<8xf32>, memref<8xf32>) -> ()
      rt.gemm %x, %x into %s m 2 n 2 k 32 by own {ta = false, tb = false, beta = true} : (tensor<8x8xf32>, tensor<8x8xf32>, memref<2x2xf32>) -> ()
      return
    }
    func.func @stage0_other() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = weight_gradient>} {
      %t = rt.ref grad for "t" use 0 : memref<2x2xf32>
      %e = tensor.empty() : tensor<8x8xf32>
      %x = rt.zero %e : (tensor<8x8xf32>) -> tensor<8x8xf32>
      rt.gemm %x, %x into %t m 2 n 2 k 32 by own {ta = false, tb = false, beta = true} : (tensor<8x8xf32>, tensor<8x8xf32>, memref<2x2xf32>) -> ()
      return
    }
    func.func @stage0_reduce() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = reduce>} {
      %l = rt.ref loss : memref<1xf32>
      rt.collective all_reduce %l group dp count 1 {origin = "loss"} : (memref<1xf32>) -> ()
      %g0 = rt.ref grad of 0 : memref<128xf32>
      rt.collective all_reduce %g0 group dp count 128 {origin = "gradient"} : (memref<128xf32>) -> ()
      %g1 = rt.ref grad of 1 : memref<8xf32>
      rt.collective all_reduce %g1 group dp count 8 {origin = "gradient"} : (memref<8xf32>) -> ()
      %again = rt.ref grad of 1 : memref<8xf32>
      %at, %local, %length = rt.flat_range start 0 count 8
      %moved = rt.offset_view %again by %at : memref<8xf32> -> memref<8xf32>
      rt.collective all_reduce %moved group tp count 8 {origin = "gradient"} : (memref<8xf32>) -> ()
      rt.norm reset
      %g2 = rt.ref grad of 2 : memref<8xf32>
      rt.collective all_reduce %g2 group dp count 8 {origin = "gradient"} : (memref<8xf32>) -> ()
      rt.norm accumulate of %g2 : memref<8xf32> length %length
      rt.collective all_reduce %g2 group tp count 8 {origin = "gradient"} : (memref<8xf32>) -> ()
      %g3 = rt.ref grad of 3 : memref<8xf32>
      rt.collective all_reduce %g3 group dp count 8 {origin = "gradient"} : (memref<8xf32>) -> ()
      %g4 = rt.ref grad of 1 : memref<8xf32>
      rt.collective all_reduce %g4 group embedding count 8 {origin = "embedding"} : (memref<8xf32>) -> ()
      return
    }
    func.func @stage0_apply() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = apply>} {
      return
    }
    pipe.timeline @train_stage0 entry "train" stage 0 pools <> {
      pipe.slot "B" microbatch 0 chunk 0 slots <>
      pipe.slot "W" microbatch 0 chunk 0 slots <>
      pipe.slot "B" microbatch 1 chunk 0 slots <>
      pipe.slot "W" microbatch 1 chunk 0 slots <>
    }
  }
}
