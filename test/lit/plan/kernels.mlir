// RUN: mtc-opt %s -form-clusters -outline-kernels -lower-calls | FileCheck %s
// Tests that a matmul becomes one GEMM, bias and activation one kernel, that a
// bias gradient is added in place by the kernel that makes it, and that a layer
// boundary ends a cluster. Equal kernels are shared.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    // CHECK: rt.kernel @[[K:kernel[0-9]+]] rows 4 cols 16
    // CHECK-NOT: tfm.
    rt.bucket 0 elements 144 unpadded 144 shard 144
    rt.param "b" use 0 bucket 0 start 128
    rt.param "w" use 0 bucket 0 start 0
    // CHECK-LABEL: func.func @stage0_fwd
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %w = pipe.param "w" : tensor<8x16xf32>
      %b = pipe.param "b" : tensor<16xf32>
      // CHECK: %[[U:.+]] = rt.gemm %{{.*}}, %{{.*}} into %{{.*}} m 4 n 16 k 8 {beta = false, ta = false, tb = false
      %u = tfm.einsum "be,ef->bf" %x, %w {tfm.layer = 1 : i64} : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
      %bb = tfm.broadcast %b dims [1] {tfm.layer = 1 : i64} : tensor<16xf32> -> tensor<4x16xf32>
      %s = tfm.add %u, %bb {tfm.layer = 1 : i64} : tensor<4x16xf32>
      // CHECK: %[[V:.+]] = rt.launch @[[K]](%{{.*}}, %[[U]], %{{.*}}) args() writes [2] {from = "broadcast+add+activation"
      %v = tfm.activation relu %s {tfm.layer = 1 : i64} : tensor<4x16xf32>
      // CHECK: rt.launch @{{kernel[0-9]+}}(%[[V]],
      %z = tfm.exp %v {tfm.layer = 2 : i64} : tensor<4x16xf32>
      pipe.send activation %z : tensor<4x16xf32>
      return
    }
    // CHECK-LABEL: func.func @stage0_bwd
    func.func @stage0_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
      // CHECK-DAG: %[[DB:.+]] = rt.ref grad for "b" use 0 : memref<16xf32>
      // CHECK-DAG: %[[DW:.+]] = rt.ref grad for "w" use 0 : memref<8x16xf32>
      %x = pipe.received activation : tensor<4x8xf32>
      %dz = pipe.received gradient : tensor<4x16xf32>
      // CHECK: rt.launch @{{kernel[0-9]+}}(%{{.*}}, %[[DB]]) args() writes [1]
      %db = tfm.reduce sum %dz dims [0] {tfm.layer = 1 : i64} : tensor<4x16xf32> -> tensor<16xf32>
      pipe.accumulate %db to "b" use 0 : tensor<16xf32>
      // CHECK: rt.gemm %{{.*}}, %{{.*}} into %[[DW]] m 8 n 16 k 4 {beta = true, ta = true, tb = false
      %dw = tfm.einsum "be,bf->ef" %x, %dz {tfm.layer = 1 : i64} : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<8x16xf32>
      pipe.accumulate %dw to "w" use 0 : tensor<8x16xf32>
      return
    }
  }
}
