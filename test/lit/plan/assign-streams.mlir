// RUN: mtc-opt %s --assign-streams | FileCheck %s
// RUN: sed -e 's/"cuda:sm_90"\(.*\)threads = 1/"cpu"\1threads = 1, streams = 2/' %s | mtc-opt --assign-streams | FileCheck %s
// RUN: mtc-opt %s --assign-streams --plan-memory | FileCheck %s --check-prefix=MEMORY
// RUN: sed -e '/rt.param "w"/d' %s | mtc-opt --assign-streams | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed -e 's/cuda:sm_90/cpu/' %s | mtc-opt --assign-streams | FileCheck %s --check-prefix=ONE
// Tests that a collective gets the stream of collectives, that an op which does not
// touch its buffer overlaps with it, that the first one that does waits, and that a
// fragment ends with nothing in flight, but for sums of gradients, for which the update
// waits, on a GPU and on a cpu with two streams. A rank with one stream has no events.

// ONE-NOT: rt.record
// ONE-NOT: rt.wait
// ONE-NOT: stream =

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cuda:sm_90", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    rt.bucket 0 elements 64 unpadded 64 shard 64
    rt.bucket 1 elements 64 unpadded 64 shard 64
    rt.bucket 2 elements 64 unpadded 64 shard 64
    rt.bucket 3 elements 64 unpadded 64 shard 64
    rt.param "w" use 0 bucket 1 start 0
    // CHECK-LABEL: func.func @stage0_fwd
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %e = tensor.empty() : tensor<8x8xf32>
      // CHECK: %[[X:.+]] = rt.zero
      // CHECK-NEXT: %[[Y:.+]] = rt.zero
      // CHECK-NEXT: rt.record event 0 stream 0
      // CHECK-NEXT: rt.wait event 0 stream 1
      // CHECK-NEXT: %[[S:.+]] = rt.collective all_reduce %[[Y]] group tp count 64 {stream = 1 : i64}
      // CHECK-NEXT: rt.record event 1 stream 1
      // CHECK-NEXT: %[[G:.+]] = rt.gemm %[[X]], %[[X]] into
      // CHECK-NEXT: %[[H:.+]] = rt.gemm %[[G]], %[[G]] into
      // CHECK-NEXT: rt.wait event 1 stream 0
      // CHECK-NEXT: rt.gemm %[[S]], %[[H]]
      // CHECK-NEXT: return
      %x = rt.zero %e : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %y = rt.zero %e : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %s = rt.collective all_reduce %y group tp count 64 : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %g = rt.gemm %x, %x into %e m 8 n 8 k 8 {ta = false, tb = false, beta = false} : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %h = rt.gemm %g, %g into %e m 8 n 8 k 8 {ta = false, tb = false, beta = false} : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %z = rt.gemm %s, %h into %e m 8 n 8 k 8 {ta = false, tb = false, beta = false} : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      return
    }
    // An unread result holds its bytes until the wait at the end: h lies elsewhere.
    // MEMORY-LABEL: func.func @unread
    // MEMORY: rt.record event 0 stream 0
    // MEMORY: rt.view workspace at [[Y:[0-9]+]]
    // MEMORY-NEXT: rt.collective all_reduce
    // MEMORY-NOT: rt.view workspace at [[Y]] {{.*}}xf32
    // MEMORY: rt.wait event 1 stream 0
    // MEMORY-NEXT: return
    func.func @unread() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %e = tensor.empty() : tensor<8x8xf32>
      %y = rt.zero %e : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %s = rt.collective all_reduce %y group tp count 64 : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %x = rt.zero %e : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %g = rt.gemm %x, %x into %e m 8 n 8 k 8 {ta = false, tb = false, beta = false} : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %h = rt.gemm %g, %g into %e m 8 n 8 k 8 {ta = false, tb = false, beta = false} : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      return
    }
    // What was waited for is free again, though other collectives follow.
    // MEMORY-LABEL: func.func @reuse
    // MEMORY: rt.view workspace at [[FIRST:[0-9]+]]
    // MEMORY-COUNT-2: rt.collective all_reduce
    // MEMORY: %[[D:.+]] = rt.view workspace at [[FIRST]] {{.*}}8x8xf32
    // MEMORY: rt.gemm %{{.*}}, %{{.*}} into %[[D]] scratch %{{.*}} m 8
    func.func @reuse() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %e = tensor.empty() : tensor<8x8xf32>
      %x = rt.zero %e : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %a = rt.collective all_reduce %x group tp count 64 : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %b = rt.gemm %a, %a into %e m 8 n 8 k 8 {ta = false, tb = false, beta = false} : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %c = rt.collective all_reduce %b group tp count 64 : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %d = rt.gemm %c, %c into %e m 8 n 8 k 8 {ta = false, tb = false, beta = false} : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      return
    }
    // A gradient waits for the sum of its bucket only; of one that has none it is not
    // known where it lies. The sum of another bucket is left in flight, and what is behind
    // the sum of the first one ends with it. Nothing lies between the two: the stream of
    // collectives waits once.
    // CHECK-LABEL: func.func @named
    // CHECK: rt.collective all_reduce %{{.*}} group dp
    // CHECK-NEXT: rt.record event 1 stream 1
    // CHECK-NEXT: rt.collective all_reduce %{{.*}} group dp
    // CHECK-NEXT: rt.wait event 1 stream 0
    // CHECK-NEXT: rt.zero %{{.*}} : (memref<8xf32>) -> ()
    // CHECK-NEXT: return
    // UNKNOWN-LABEL: func.func @named
    // UNKNOWN: rt.wait event 1 stream 0
    // UNKNOWN-NEXT: rt.zero %{{.*}} : (memref<8xf32>) -> ()
    func.func @named() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
      %a = rt.ref grad of 1 : memref<64xf32>
      %b = rt.ref grad of 2 : memref<64xf32>
      %w = rt.ref grad for "w" use 0 : memref<8xf32>
      rt.collective all_reduce %a group dp count 64 : (memref<64xf32>) -> ()
      rt.collective all_reduce %b group dp count 64 : (memref<64xf32>) -> ()
      rt.zero %w : (memref<8xf32>) -> ()
      return
    }
    // A later one, of tensors, ends what is before it, not what is behind it.
    // CHECK-LABEL: func.func @mixed
    // CHECK: rt.collective all_reduce
    // CHECK-NEXT: rt.record event 1 stream 1
    // CHECK-NEXT: rt.ref
    // CHECK-NEXT: rt.collective all_reduce
    // CHECK-NEXT: rt.wait event 1 stream 0
    // CHECK-NEXT: return
    func.func @mixed() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
      %e = tensor.empty() : tensor<8x8xf32>
      %y = rt.zero %e : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %s = rt.collective all_reduce %y group tp count 64 : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %b = rt.ref grad of 3 : memref<64xf32>
      rt.collective all_reduce %b group dp count 64 : (memref<64xf32>) -> ()
      return
    }
    // What a product writes between two sums is waited for.
    // CHECK-LABEL: func.func @behind
    // CHECK: rt.wait event 0 stream 1
    // CHECK-NEXT: rt.collective all_reduce %{{.*}} group dp
    // CHECK: rt.gemm
    // CHECK-NEXT: rt.record event 1 stream 0
    // CHECK-NEXT: rt.wait event 1 stream 1
    // CHECK-NEXT: rt.collective all_reduce %{{.*}} group dp
    func.func @behind() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
      %e = tensor.empty() : tensor<8x8xf32>
      %x = rt.zero %e : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %a = rt.ref grad of 1 : memref<64xf32>
      %b = rt.ref grad of 2 : memref<8x8xf32>
      rt.collective all_reduce %a group dp count 64 : (memref<64xf32>) -> ()
      rt.gemm %x, %x into %b m 8 n 8 k 8 {ta = false, tb = false, beta = true} : (tensor<8x8xf32>, tensor<8x8xf32>, memref<8x8xf32>) -> ()
      rt.collective all_reduce %b group dp count 64 : (memref<8x8xf32>) -> ()
      return
    }
    // Two buckets are reduced one behind the other; bucket 0 is read while bucket 1
    // is on its way. Waiting for the norm's sum waits for all before it. What backwards
    // left in flight, buckets 2 and 3 among it, is waited for once, where the first is read.
    // CHECK-LABEL: func.func @stage0_reduce
    // CHECK-NEXT: rt.record event 0 stream 1
    // CHECK: rt.collective all_reduce %{{.*}} group dp count 64 {stream = 1 : i64}
    // CHECK-NEXT: rt.record event 2 stream 1
    // CHECK-NEXT: rt.ref
    // CHECK-NEXT: rt.collective all_reduce %{{.*}} group dp count 64 {stream = 1 : i64}
    // CHECK-NEXT: rt.record event 3 stream 1
    // CHECK: rt.norm reset
    // CHECK: rt.wait event 0 stream 0
    // CHECK-NEXT: rt.norm accumulate
    // CHECK-NOT: rt.wait event 0 stream 0
    // CHECK: rt.norm accumulate
    // CHECK: rt.wait event 2 stream 0
    // CHECK-NEXT: rt.norm accumulate
    // CHECK: rt.wait event 3 stream 0
    // CHECK-NEXT: rt.norm accumulate
    // CHECK-NEXT: rt.record event 4 stream 0
    // CHECK-NEXT: rt.wait event 4 stream 1
    // CHECK-NEXT: rt.collective norm_reduce group all count 1 {stream = 1 : i64}
    // CHECK-NEXT: rt.record event 5 stream 1
    // CHECK-NEXT: rt.wait event 5 stream 0
    // CHECK-NEXT: rt.norm finish
    func.func @stage0_reduce() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = reduce>} {
      %a = rt.ref grad of 0 : memref<64xf32>
      rt.collective all_reduce %a group dp count 64 : (memref<64xf32>) -> ()
      %b = rt.ref grad of 1 : memref<64xf32>
      rt.collective all_reduce %b group dp count 64 : (memref<64xf32>) -> ()
      rt.norm reset
      %at, %local, %length = rt.flat_range start 0 count 64
      %d0 = rt.ref grad of 3 : memref<64xf32>
      %dm = rt.offset_view %d0 by %at : memref<64xf32> -> memref<64xf32>
      rt.norm accumulate of %dm : memref<64xf32> length %length
      %c0 = rt.ref grad of 2 : memref<64xf32>
      %cm = rt.offset_view %c0 by %at : memref<64xf32> -> memref<64xf32>
      rt.norm accumulate of %cm : memref<64xf32> length %length
      %a0 = rt.ref grad of 0 : memref<64xf32>
      %am = rt.offset_view %a0 by %at : memref<64xf32> -> memref<64xf32>
      rt.norm accumulate of %am : memref<64xf32> length %length
      %b0 = rt.ref grad of 1 : memref<64xf32>
      %bm = rt.offset_view %b0 by %at : memref<64xf32> -> memref<64xf32>
      rt.norm accumulate of %bm : memref<64xf32> length %length
      rt.collective norm_reduce group all count 1 : () -> ()
      rt.norm finish
      return
    }
  }
}
