// RUN: mtc-opt %s --shard-gradients | FileCheck %s
// RUN: mtc-opt %s --shard-gradients --overlap-gradients --assign-streams --plan-memory | FileCheck %s --check-prefix=MEMORY
// RUN: sed -e 's/zero = 2/zero = 1/' -e 's/ {shard_gradients}//' %s | mtc-opt --shard-gradients | FileCheck %s --check-prefix=PLAIN
// RUN: sed -e 's/dp = 2/dp = 1/' -e 's/global = 8/global = 4/' -e 's/ {shard_gradients}//' %s | mtc-opt --shard-gradients | FileCheck %s --check-prefix=PLAIN
// Tests that under ZeRO-2 each bucket's gradients are staged from the first op that
// adds to one to the last, that the sum over dp stands directly behind that, and that
// the rank's part is added to its shard; and that staging is workspace that
// buckets share where they do not live together.

// PLAIN-NOT: staging
// PLAIN-NOT: reduce_scatter

// A bucket of two fragments would be summed twice a microbatch, half of it not there.
// RUN: sed -e '/rt.launch @bias/d' -e '/rt.ref grad for "u"/d' %s | not mtc-opt --shard-gradients 2>&1 | FileCheck %s --check-prefix=PARTLY
// PARTLY: 'rt.bucket' op expected all 2 gradients of bucket 0 to be made by one fragment, because zero = 2 sums them behind it, found 1 in @stage0_bwd; bucket-gradients makes a bucket of each fragment

// RUN: sed -e '/rt.param "u"/d' %s | not mtc-opt --shard-gradients 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: 'rt.ref' op expected a bucket for use 0 of the parameter "u", found none in this program

// RUN: mtc-opt %s --shard-gradients | sed -e 's/rt.ref staging of 1 /rt.ref staging of 7 /' \
// RUN:   | not mtc-opt --overlap-gradients --assign-streams --plan-memory 2>&1 | FileCheck %s --check-prefix=NO-BUCKET
// NO-BUCKET: 'rt.ref' op expected a bucket of this program, found 7

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 2, pp = 1>, batch = <micro = 4, microbatches = 1, global = 8, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 2, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    // CHECK: rt.kernel @[[ADD:kernel[0-9]+]] rows 1
    rt.kernel @bias rows 8 cols 8 args 0 [
        #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] {
      %x = rt.load 0 : f32
      rt.accumulate 1, %x : f32
    }
    rt.bucket 0 elements 128 unpadded 72 shard 64 {shard_gradients}
    rt.bucket 1 elements 128 unpadded 64 shard 64 {shard_gradients}
    rt.param "w" use 0 bucket 0 start 0
    rt.param "u" use 0 bucket 0 start 64
    rt.param "b" use 0 bucket 1 start 0
    // CHECK-LABEL: func.func @stage0_bwd
    // MEMORY-LABEL: func.func @stage0_bwd
    func.func @stage0_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
      // CHECK-DAG: %[[W:.*]] = rt.ref staging for "w" use 0
      // CHECK-DAG: %[[U:.*]] = rt.ref staging for "u" use 0
      // CHECK-DAG: %[[B:.*]] = rt.ref staging for "b" use 0
      %w = rt.ref grad for "w" use 0 : memref<8x8xf32>
      %u = rt.ref grad for "u" use 0 : memref<8xf32>
      %b = rt.ref grad for "b" use 0 : memref<8x8xf32>
      %e = tensor.empty() : tensor<8x8xf32>
      %x = rt.zero %e : (tensor<8x8xf32>) -> tensor<8x8xf32>
      // CHECK: %[[S:.*]] = rt.ref staging of 0 : memref<128xf32>
      // CHECK-NEXT: rt.zero %[[S]]
      // CHECK-NEXT: rt.gemm %{{.*}} into %[[W]]
      // CHECK-NEXT: rt.launch @bias(%{{.*}}, %[[U]])
      // CHECK-NEXT: rt.collective reduce_scatter %[[S]] group dp count 64 {origin = "gradient"}
      // CHECK-NEXT: %[[AT:.*]], %[[LOCAL:.*]], %[[LENGTH:.*]] = rt.flat_range start 0 count 128 shard 64
      // CHECK-NEXT: %[[G:.*]] = rt.ref grad of 0 : memref<64xf32>
      // CHECK-NEXT: %[[INTO:.*]] = rt.offset_view %[[G]] by %[[LOCAL]]
      // CHECK-NEXT: %[[FROM:.*]] = rt.offset_view %[[S]] by %[[AT]]
      // CHECK-NEXT: rt.launch @[[ADD]](%[[INTO]], %[[FROM]]) args(%[[LENGTH]]) writes [0]
      // CHECK-NEXT: %[[S:.*]] = rt.ref staging of 1
      // CHECK-NEXT: rt.zero %[[S]]
      // CHECK-NEXT: rt.gemm %{{.*}} into %[[B]]
      // CHECK-NEXT: rt.collective reduce_scatter %[[S]] group dp count 64
      // MEMORY: rt.view workspace at [[#BUCKET:]] : memref<128xf32>
      // MEMORY-NEXT: rt.zero
      // MEMORY: %[[W:.*]] = rt.view workspace at [[#BUCKET]] : memref<8x8xf32>
      // MEMORY: rt.gemm %{{.*}} into %[[W]] scratch
      // MEMORY: %[[U:.*]] = rt.view workspace at [[#BUCKET + 256]] : memref<8xf32>
      // MEMORY-NEXT: rt.launch @bias(%{{.*}}, %[[U]])
      // MEMORY: %[[S:.*]] = rt.view workspace at [[#BUCKET]] : memref<128xf32>
      // MEMORY-NEXT: rt.collective reduce_scatter %[[S]] group dp count 64
      // MEMORY: %[[G:.*]] = rt.view grads at 0 : memref<64xf32>
      // MEMORY-NEXT: rt.offset_view %[[G]]
      // MEMORY: rt.launch @kernel1
      // MEMORY-NEXT: rt.view workspace at [[#BUCKET]] : memref<128xf32>
      // MEMORY-NEXT: rt.zero
      // MEMORY: rt.view grads at 256 : memref<64xf32>
      rt.gemm %x, %x into %w m 8 n 8 k 8 by own {ta = false, tb = false, beta = true} : (tensor<8x8xf32>, tensor<8x8xf32>, memref<8x8xf32>) -> ()
      rt.launch @bias(%x, %u) args() writes [1] : (tensor<8x8xf32>, memref<8xf32>) -> ()
      rt.gemm %x, %x into %b m 8 n 8 k 8 by own {ta = false, tb = false, beta = true} : (tensor<8x8xf32>, tensor<8x8xf32>, memref<8x8xf32>) -> ()
      return
    }
  }
}
