// RUN: mtc-opt %s | mtc-opt | FileCheck %s
// Tests that every rt op prints what it parses.

// CHECK: rt.program @stage0 stage 0
rt.program @stage0 stage 0 {
  // CHECK: rt.kernel @g rows 1 cols -1 args 0 [#rt.operand<mode = full, element = f32, extent = 0>] guarded {
  rt.kernel @g rows 1 cols -1 args 0 [#rt.operand<mode = full, element = f32, extent = 0>] guarded {
    %x = rt.load 0 : f32
    rt.store 0, %x : f32
  }
  // CHECK: rt.kernel @t rows 8 cols 16 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] tiled {
  rt.kernel @t rows 8 cols 16 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] tiled {
    %x = rt.load 0 : f32
    rt.store 1, %x : f32
  }
  // CHECK: rt.kernel @k rows 8 cols 16 args 1
  rt.kernel @k rows 8 cols 16 args 1 [
      #rt.operand<mode = full, element = f32, extent = 0>,
      #rt.operand<mode = table, element = f32, extent = 32>,
      #rt.operand<mode = row, element = i32, extent = 0>,
      #rt.operand<mode = full, element = f32, extent = 0>,
      #rt.operand<mode = col, element = f32, extent = 0>] {
    %x = rt.load 0 : f32
    %i = rt.load 2 : i32
    // CHECK: rt.gather 1 at %
    %g = rt.gather 1 at %i : f32
    // CHECK: rt.row_reduce sum %
    %s = rt.row_reduce sum %x : f32
    // CHECK: rt.index col : i32
    %c = rt.index col : i32
    // CHECK: rt.arg 0 : i64
    %a = rt.arg 0 : i64
    // CHECK: rt.random %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {site = 2 : i64} : i32
    %w = rt.random %a, %a, %a, %c {site = 2 : i64} : i32
    %y = arith.addf %g, %s : f32
    // CHECK: rt.store 3, %
    rt.store 3, %y : f32
    // CHECK: rt.accumulate 4, %
    rt.accumulate 4, %y : f32
    // CHECK: rt.scatter_add 1 at %{{.*}}, %
    rt.scatter_add 1 at %i, %y : f32
  }
  // CHECK: rt.bucket 0 elements 4096 unpadded 4000 shard 2048
  rt.bucket 0 elements 4096 unpadded 4000 shard 2048
  // CHECK: rt.param "w" use 0 bucket 0 start 64
  rt.param "w" use 0 bucket 0 start 64
  // CHECK: rt.param "v" use 0 bucket 1 start 0 partial <tp>
  rt.param "v" use 0 bucket 1 start 0 partial <tp>
  // CHECK: rt.input_slot "ids" at 0 slot of saved stride 4096 entry "train"
  rt.input_slot "ids" at 0 slot of saved stride 4096 entry "train"
  // CHECK: rt.export_slot "logits" of @f workspace at 0 sharding <[{}, {"tp"}]> local tensor<2x4xf32>
  rt.export_slot "logits" of @f workspace at 0 sharding #dist.sharding<[{}, {"tp"}]> local tensor<2x4xf32>
  func.func @f() {
    // CHECK: rt.affine <4 * tp + 2 * dp + 4 * microbatch + sample> : i64
    %s = rt.affine <4 * tp + 2 * dp + 4 * microbatch + sample> : i64
    // CHECK: rt.view activations at 4096 slot of saved stride 8192 : memref<8x16xf32>
    %v = rt.view activations at 4096 slot of saved stride 8192 : memref<8x16xf32>
    // CHECK: rt.launch @t(%{{.+}}, %{{.+}}) args() writes [1] continues {from = "copy"} : (memref<8x16xf32>, memref<8x16xf32>) -> ()
    rt.launch @t(%v, %v) args() writes [1] continues {from = "copy"} : (memref<8x16xf32>, memref<8x16xf32>) -> ()
    // CHECK: rt.ref grad for "w" use 0 : memref<16xf32>
    %r = rt.ref grad for "w" use 0 : memref<16xf32>
    // CHECK: rt.step_field lr : memref<1xf32>
    %f = rt.step_field lr : memref<1xf32>
    // CHECK: rt.step_field weight_decay group 2 : memref<1xf32>
    %own = rt.step_field weight_decay group 2 : memref<1xf32>
    // CHECK: rt.flat_range start 64 count 1000 shard 2048
    %at, %local, %n = rt.flat_range start 64 count 1000 shard 2048
    // CHECK: rt.offset_view %{{.*}} by %{{.*}} : memref<16xf32> -> memref<16xf32>
    %o = rt.offset_view %r by %at : memref<16xf32> -> memref<16xf32>
    // Buffers stand in the order of the kernel's operands, whichever are written.
    // CHECK: %[[T:.+]] = arith.constant
    // CHECK: %[[L:.+]] = arith.constant
    // CHECK: %[[U:.+]] = tensor.empty() : tensor<8x16xf32>
    // CHECK: rt.launch @k(%[[T]], %[[T]], %[[L]], %[[U]], %{{.+}}) args(%{{.+}}) writes [3, 1, 4] {from = "all"} : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8xi32>, tensor<8x16xf32>, memref<16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
    %t = arith.constant dense<0.0> : tensor<8x16xf32>
    %l = arith.constant dense<0> : tensor<8xi32>
    %eu = tensor.empty() : tensor<8x16xf32>
    %u:2 = rt.launch @k(%t, %t, %l, %eu, %r) args(%s) writes [3, 1, 4] {from = "all"} : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8xi32>, tensor<8x16xf32>, memref<16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
    // CHECK: rt.gemm %{{.*}}, %{{.*}} into %{{.*}} m 8 n 8 k 16
    %ec = tensor.empty() : tensor<8x8xf32>
    %c = rt.gemm %t, %u#0 into %ec m 8 n 8 k 16 {ta = false, tb = true, beta = false} : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    // CHECK: rt.gemm %{{.*}}, %{{.*}} into %{{.*}} m 8 n 8 k 16 by own {beta = false
    %ours = rt.gemm %t, %u#0 into %ec m 8 n 8 k 16 by own {ta = false, tb = true, beta = false} : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    // CHECK: %{{.*}}:2 = rt.gemm %{{.*}}, %{{.*}} bias %[[B:.+]] into %{{.*}} aux %{{.*}} m 8 n 8 k 16 gelu {beta = false, ta = false, tb = true} : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
    // CHECK: rt.gemm %{{.*}}, %{{.*}} bias %[[B]] into %{{.*}} m 8 n 8 k 16 {
    %bias = tensor.empty() : tensor<8xf32>
    %ex = tensor.empty() : tensor<8x8xf32>
    %gelu, %of = rt.gemm %t, %t bias %bias into %ec aux %ex m 8 n 8 k 16 gelu {ta = false, tb = true, beta = false} : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
    %sum = rt.gemm %t, %t bias %bias into %ec m 8 n 8 k 16 {ta = false, tb = true, beta = false} : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    // CHECK: rt.collective all_reduce %{{.*}} group tp count 64
    %d = rt.collective all_reduce %c group tp count 64 : (tensor<8x8xf32>) -> tensor<8x8xf32>
    // CHECK: %[[E:.+]] = rt.cluster -> (tensor<8x8xf32>) {
    // CHECK-NEXT: %[[X:.+]] = tfm.exp
    // CHECK-NEXT: rt.yield %[[X]] : tensor<8x8xf32>
    %e = rt.cluster -> (tensor<8x8xf32>) {
      %x = tfm.exp %d : tensor<8x8xf32>
      rt.yield %x : tensor<8x8xf32>
    }
    // CHECK: rt.cluster {
    // CHECK-NEXT: pipe.accumulate %[[E]]
    // CHECK-NEXT: }
    rt.cluster {
      pipe.accumulate %e to "w" use 0 : tensor<8x8xf32>
    }
    // CHECK: rt.zero %{{.*}} : (tensor<4xf32>) -> tensor<4xf32>
    %ez = tensor.empty() : tensor<4xf32>
    %z = rt.zero %ez : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: rt.zero %{{.*}} guarded : (memref<16xf32>) -> ()
    rt.zero %o guarded : (memref<16xf32>) -> ()
    // CHECK: rt.norm reset
    rt.norm reset
    // CHECK: rt.norm accumulate of %{{.*}} : memref<16xf32> length %
    rt.norm accumulate of %o : memref<16xf32> length %n
    // CHECK: rt.norm check of %{{.*}} : memref<16xf32>
    rt.norm check of %o : memref<16xf32>
    return
  }
  // CHECK: rt.timeline @train
  rt.timeline @train {
    // CHECK: rt.step run @f microbatch 0 slots <send_activation = 0, saved = 0>
    rt.step run @f microbatch 0 slots <send_activation = 0, saved = 0>
    // CHECK: rt.exchange [#rt.transfer<send = true, peer = 1, tag = <value = activation, microbatch = 0, virtual_stage = 0>, offset = 0, bytes = 2048>]
    rt.exchange [#rt.transfer<send = true, peer = 1, tag = <value = activation, microbatch = 0, virtual_stage = 0>, offset = 0, bytes = 2048>]
    // CHECK: rt.exchange wait [#rt.transfer<send = true, peer = 1, tag = <value = activation, microbatch = 0, virtual_stage = 0>, offset = 0, bytes = 2048>]
    rt.exchange wait [#rt.transfer<send = true, peer = 1, tag = <value = activation, microbatch = 0, virtual_stage = 0>, offset = 0, bytes = 2048>]
  }
}
