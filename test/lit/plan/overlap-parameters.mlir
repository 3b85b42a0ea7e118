// RUN: mtc-opt %s --overlap-parameters | FileCheck %s
// RUN: mtc-opt %s --overlap-parameters --assign-streams --plan-memory | FileCheck %s --check-prefix=ROWS
// RUN: sed -e '/microbatch 1/d' %s | mtc-opt --overlap-parameters | FileCheck %s --check-prefix=ONE
// RUN: sed -e 's/"param-gather"/"p2p"/' %s | mtc-opt --overlap-parameters | FileCheck %s --check-prefix=PLAIN
// RUN: sed -e 's/device = "cpu"/device = "cuda:sm_90"/' %s | mtc-opt --overlap-parameters --assign-streams | FileCheck %s --check-prefix=STREAMS
// Tests that the forward that runs first has a form in which each bucket is gathered in
// front of the first reader of the bucket before; that eval has one, too; and what stays in
// the update: what training does not read, what a backward reads first, and a gather
// before the end of what `apply` does to the bucket.

// Forwards of the other microbatches stay as they are.
// CHECK-LABEL: func.func @stage0_fwd()
// CHECK-NOT: rt.collective
// CHECK-LABEL: func.func @stage0_fwd_first() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward, form = first>}
// CHECK: rt.zero
// CHECK-NEXT: %[[P:.*]] = rt.ref param of 1 : memref<64xf32>
// CHECK-NEXT: rt.collective all_gather %[[P]] group dp count 32 {origin = "zero1"}
// CHECK-NEXT: %[[P:.*]] = rt.ref param of 0 : memref<128xf32>
// CHECK-NEXT: rt.collective all_gather %[[P]] group dp count 64 {origin = "zero1"}
// CHECK-NEXT: rt.gemm
// CHECK-NEXT: rt.gemm
// CHECK-NEXT: rt.gemm
// CHECK-NOT: rt.collective

// What an earlier chunk reads is whole.
// CHECK-LABEL: func.func @stage0_chunk1_fwd()
// CHECK-LABEL: func.func @stage0_chunk1_fwd_first()
// CHECK: rt.ref param of 2
// CHECK-NEXT: rt.collective all_gather
// CHECK-NOT: rt.collective
// CHECK-LABEL: func.func @stage0_bwd()
// CHECK-NOT: rt.collective
// CHECK-LABEL: func.func @stage0_eval()
// CHECK-NOT: rt.collective
// CHECK-LABEL: func.func @stage0_eval_first() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = eval, form = first>}
// CHECK: rt.ref param of 0
// CHECK-NEXT: rt.collective all_gather
// CHECK-NEXT: rt.gemm
// CHECK-NOT: rt.collective

// CHECK-LABEL: func.func @stage0_apply()
// CHECK: %[[P:.*]] = rt.ref param of 3 : memref<64xf32>
// CHECK-NEXT: rt.collective all_gather %[[P]] group dp
// CHECK-NEXT: %[[P:.*]] = rt.ref param of 4 : memref<64xf32>
// CHECK-NEXT: rt.collective all_gather %[[P]] group dp
// CHECK-NEXT: %[[P:.*]] = rt.ref param of 5 : memref<64xf32>
// CHECK-NEXT: rt.collective all_gather %[[P]] group dp
// CHECK-NEXT: rt.zero %[[P]]
// CHECK-NEXT: return

// The first slot of a chunk, whatever its microbatch.
// ROWS: rt.timeline @train
// ROWS-NEXT: rt.step run @stage0_fwd_first microbatch 1
// ROWS-NEXT: rt.step run @stage0_fwd microbatch 0
// ROWS-NEXT: rt.step run @stage0_chunk1_fwd_first microbatch 1
// ROWS-NEXT: rt.step run @stage0_chunk1_fwd microbatch 0
// ROWS-NEXT: rt.step run @stage0_bwd microbatch 0
// ROWS-NEXT: rt.step run @stage0_bwd microbatch 1
// ROWS: rt.timeline @eval
// ROWS-NEXT: rt.step run @stage0_eval_first microbatch 0
// ROWS-NEXT: rt.step run @stage0_eval microbatch 1

// With one microbatch the forward is the first.
// ONE-LABEL: func.func @stage0_fwd()
// ONE-COUNT-2: rt.collective all_gather
// ONE-NOT: _first

// PLAIN-NOT: _first
// PLAIN-LABEL: func.func @stage0_apply()
// PLAIN-COUNT-6: rt.collective all_gather
// PLAIN-NOT: rt.collective

// The gather of the second bucket runs beside the readers of the first.
// STREAMS-LABEL: func.func @stage0_fwd_first()
// STREAMS: rt.record event 0 stream 0
// STREAMS-NEXT: rt.wait event 0 stream 1
// STREAMS-NEXT: rt.collective all_gather %{{.*}} group dp count 32 {origin = "zero1", stream = 1 : i64}
// STREAMS-NEXT: rt.record event 1 stream 1
// STREAMS: rt.collective all_gather %{{.*}} group dp count 64 {origin = "zero1", stream = 1 : i64}
// STREAMS-NEXT: rt.record event 2 stream 1
// STREAMS-NEXT: rt.wait event 1 stream 0
// STREAMS-NEXT: rt.gemm
// STREAMS-NEXT: rt.gemm
// STREAMS-NEXT: rt.wait event 2 stream 0
// STREAMS-NEXT: rt.gemm

// Only forwards have a form of the first microbatch.
// RUN: sed -e 's/phase = backward>/phase = backward, form = first>/' %s | not mtc-opt 2>&1 | FileCheck %s --check-prefix=FIRST
// FIRST: 'func.func' op expected only forward and eval to have a form of the first microbatch (form = first), found phase backward

#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 2, pp = 1>, batch = <micro = 2, microbatches = 2, global = 8, sequence = 16>,
  precision = f32, schedule = <name = "interleaved-1f1b", chunks = 2, layers_per_stage = [1, 1]>,
  optimizer = <kind = adamw, zero = 1, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>,
  overlap = ["param-gather"]>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    rt.bucket 0 elements 128 unpadded 128 shard 64
    rt.bucket 1 elements 64 unpadded 64 shard 32
    rt.bucket 2 elements 64 unpadded 64 shard 32
    rt.bucket 3 elements 64 unpadded 64 shard 32
    rt.bucket 4 elements 64 unpadded 64 shard 32
    rt.bucket 5 elements 64 unpadded 64 shard 32
    rt.param "w" use 0 bucket 1 start 0
    rt.param "v" use 0 bucket 0 start 0
    rt.param "u" use 0 bucket 0 start 64
    rt.param "c" use 0 bucket 2 start 0
    rt.param "nobody's" use 0 bucket 3 start 0
    rt.param "b" use 0 bucket 4 start 0
    rt.param "cleared" use 0 bucket 5 start 0
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %v = pipe.param "v" : tensor<8x8xf32>
      %w = pipe.param "w" : tensor<8x8xf32>
      %r = pipe.param "cleared" : tensor<8x8xf32>
      %e = tensor.empty() : tensor<8x8xf32>
      %x = rt.zero %e : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %1 = rt.gemm %x, %w into %e m 8 n 8 k 8 by own {ta = false, tb = false, beta = false} : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %2 = rt.gemm %1, %r into %e m 8 n 8 k 8 by own {ta = false, tb = false, beta = false} : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %3 = rt.gemm %2, %v into %e m 8 n 8 k 8 by own {ta = false, tb = false, beta = false} : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      return
    }
    func.func @stage0_chunk1_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 1, phase = forward>} {
      %u = pipe.param "u" : tensor<8x8xf32>
      %c = pipe.param "c" : tensor<8x8xf32>
      %e = tensor.empty() : tensor<8x8xf32>
      %1 = rt.gemm %u, %c into %e m 8 n 8 k 8 by own {ta = false, tb = false, beta = false} : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      return
    }
    func.func @stage0_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
      %w = pipe.param "w" : tensor<8x8xf32>
      %b = pipe.param "b" : tensor<8x8xf32>
      %e = tensor.empty() : tensor<8x8xf32>
      %1 = rt.gemm %w, %b into %e m 8 n 8 k 8 by own {ta = false, tb = false, beta = false} : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      return
    }
    func.func @stage0_eval() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = eval>} {
      %v = pipe.param "v" : tensor<8x8xf32>
      %n = pipe.param "nobody's" : tensor<8x8xf32>
      %e = tensor.empty() : tensor<8x8xf32>
      %1 = rt.gemm %n, %v into %e m 8 n 8 k 8 by own {ta = false, tb = false, beta = false} : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      return
    }
    func.func @stage0_reduce() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = reduce>} {
      return
    }
    func.func @stage0_apply() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = apply>} {
      %p0 = rt.ref param of 0 : memref<128xf32>
      rt.collective all_gather %p0 group dp count 64 {origin = "zero1"} : (memref<128xf32>) -> ()
      %p1 = rt.ref param of 1 : memref<64xf32>
      rt.collective all_gather %p1 group dp count 32 {origin = "zero1"} : (memref<64xf32>) -> ()
      %p2 = rt.ref param of 2 : memref<64xf32>
      rt.collective all_gather %p2 group dp count 32 {origin = "zero1"} : (memref<64xf32>) -> ()
      %p3 = rt.ref param of 3 : memref<64xf32>
      rt.collective all_gather %p3 group dp count 32 {origin = "zero1"} : (memref<64xf32>) -> ()
      %p4 = rt.ref param of 4 : memref<64xf32>
      rt.collective all_gather %p4 group dp count 32 {origin = "zero1"} : (memref<64xf32>) -> ()
      %p5 = rt.ref param of 5 : memref<64xf32>
      rt.collective all_gather %p5 group dp count 32 {origin = "zero1"} : (memref<64xf32>) -> ()
      rt.zero %p5 : (memref<64xf32>) -> ()
      return
    }
    pipe.timeline @train_stage0 entry "train" stage 0 pools <> {
      pipe.slot "F" microbatch 1 chunk 0 slots <>
      pipe.slot "F" microbatch 0 chunk 0 slots <>
      pipe.slot "F" microbatch 1 chunk 1 slots <>
      pipe.slot "F" microbatch 0 chunk 1 slots <>
      pipe.slot "B" microbatch 0 chunk 0 slots <>
      pipe.slot "B" microbatch 1 chunk 0 slots <>
    }
    pipe.timeline @eval_stage0 entry "eval" stage 0 pools <> {
      pipe.slot "F" microbatch 0 chunk 0 slots <>
      pipe.slot "F" microbatch 1 chunk 0 slots <>
    }
  }
}
