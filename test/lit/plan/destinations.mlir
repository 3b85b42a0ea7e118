// RUN: mtc-opt %s --plan-memory | FileCheck %s
// Tests where results lie: with the destination that their op reads, at a place of
// their own if it only writes it. An empty tensor has no bytes, and an accumulator is
// memory.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    rt.kernel @sums rows 4 cols 16 args 0 [
        #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>,
        #rt.operand<mode = col, element = f32, extent = 0>] {
      %x = rt.load 1 : f32
      rt.accumulate 0, %x : f32
      rt.accumulate 2, %x : f32
    }
    rt.bucket 0 elements 16 unpadded 16 shard 16
    // CHECK-LABEL: func.func @stage0_fwd
    // CHECK-NOT: tensor.empty
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %g = rt.ref grad of 0 : memref<16xf32>
      %x = pipe.received activation : tensor<4x16xf32>
      // CHECK: %[[Z:.+]] = rt.view workspace at [[ZERO:[0-9]+]] : memref<16xf32>
      // CHECK-NEXT: rt.zero %[[Z]] : (memref<16xf32>) -> ()
      %e = tensor.empty() : tensor<16xf32>
      %z = rt.zero %e : (tensor<16xf32>) -> tensor<16xf32>
      // CHECK: %[[G:.+]] = rt.view grads at 0 : memref<16xf32>
      // CHECK: %[[S:.+]] = rt.view workspace at [[ZERO]] : memref<16xf32>
      // CHECK-NEXT: rt.launch @sums(%[[G]], %{{.+}}, %[[S]]) args() writes [2, 0] {from = "sums"} : (memref<16xf32>, memref<4x16xf32>, memref<16xf32>) -> ()
      %s = rt.launch @sums(%g, %x, %z) args() writes [2, 0] {from = "sums"} : (memref<16xf32>, tensor<4x16xf32>, tensor<16xf32>) -> tensor<16xf32>
      // CHECK: %[[A:.+]] = rt.view workspace at [[FIRST:[0-9]+]] : memref<16x16xf32>
      // CHECK: rt.gemm %{{.+}}, %{{.+}} into %[[A]] scratch %{{.+}} m 16
      %e2 = tensor.empty() : tensor<16x16xf32>
      %a = rt.gemm %x, %x into %e2 m 16 n 16 k 4 by own {ta = true, tb = false, beta = false} : (tensor<4x16xf32>, tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      // CHECK: %[[B:.+]] = rt.view workspace at [[FIRST]] : memref<16x16xf32>
      // CHECK: rt.gemm %{{.+}}, %{{.+}} into %[[B]] scratch %{{.+}} m 16 n 16 k 4 by own {beta = true
      %b = rt.gemm %x, %x into %a m 16 n 16 k 4 by own {ta = true, tb = false, beta = true} : (tensor<4x16xf32>, tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      // b is read behind c, which does not read it.
      // CHECK-NOT: rt.view workspace at [[FIRST]] :
      // CHECK: rt.gemm %{{.+}}, %{{.+}} into %{{.+}} m 16 n 16 k 4 by own {beta = false
      %c = rt.gemm %x, %x into %b m 16 n 16 k 4 by own {ta = true, tb = false, beta = false} : (tensor<4x16xf32>, tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      pipe.export "s" %s : tensor<16xf32>
      pipe.export "b" %b : tensor<16x16xf32>
      pipe.export "c" %c : tensor<16x16xf32>
      return
    }
    // CHECK-DAG: rt.export_slot "s" of @stage0_fwd workspace at [[ZERO]] local
    // CHECK-DAG: rt.export_slot "b" of @stage0_fwd workspace at [[FIRST]] local
  }
}
