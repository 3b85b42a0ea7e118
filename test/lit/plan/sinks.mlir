// RUN: mtc-opt %s -form-clusters -outline-kernels -lower-calls | FileCheck %s
// Tests that any value can be accumulated: where its producer is no GEMM and no sum
// over rows, or where others read it too, a kernel adds it to the accumulator.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    // An elementwise kernel adds to both accumulators and stores for the reader.
    // CHECK: rt.kernel @[[BOTH:kernel[0-9]+]]
    // CHECK: %[[Y:.+]] = arith.addf
    // CHECK-DAG: rt.store [[#]], %[[Y]] : f32
    // CHECK-DAG: rt.accumulate [[#]], %[[Y]] : f32
    // CHECK-DAG: rt.accumulate [[#]], %[[Y]] : f32
    // A value that is complete already has a kernel that adds it.
    // CHECK: rt.kernel @[[ADD:kernel[0-9]+]] rows 1 cols 128
    // CHECK-SAME: mode = full, element = f32
    // CHECK-SAME: mode = full, element = f32
    // CHECK-NEXT: %[[V:.+]] = rt.load 0 : f32
    // CHECK-NEXT: rt.accumulate 1, %[[V]] : f32
    // CHECK-NEXT: }
    rt.bucket 0 elements 640 unpadded 640 shard 640
    rt.param "p" use 0 bucket 0 start 0
    rt.param "q" use 0 bucket 0 start 128
    rt.param "r" use 0 bucket 0 start 256
    rt.param "w" use 0 bucket 0 start 384
    rt.param "b" use 0 bucket 0 start 512
    rt.param "s" use 0 bucket 0 start 528

    // CHECK-LABEL: func.func @stage0_bwd
    func.func @stage0_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
      // CHECK-DAG: %[[P:.+]] = rt.ref grad for "p" use 0 : memref<8x16xf32>
      // CHECK-DAG: %[[Q:.+]] = rt.ref grad for "q" use 0 : memref<8x16xf32>
      // CHECK-DAG: %[[R:.+]] = rt.ref grad for "r" use 0 : memref<8x16xf32>
      // CHECK-DAG: %[[W:.+]] = rt.ref grad for "w" use 0 : memref<8x16xf32>
      // CHECK-DAG: %[[B:.+]] = rt.ref grad for "b" use 0 : memref<16xf32>
      // CHECK-DAG: %[[S:.+]] = rt.ref grad for "s" use 0 : memref<f32>
      // CHECK-DAG: %[[LOSS:.+]] = rt.ref loss : memref<f32>
      %x = pipe.received activation : tensor<8x16xf32>
      %g = pipe.received gradient : tensor<8x16xf32>

      // A cotangent that two parameters share and another op reads.
      // CHECK: %[[YT:.+]] = rt.launch @[[BOTH]](%{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}, %[[P]], %[[Q]]) args() writes [2, 3, 4] {from = "add+accumulate+accumulate"
      %y = tfm.add %x, %g {tfm.layer = 1 : i64} : tensor<8x16xf32>
      pipe.accumulate %y to "p" use 0 : tensor<8x16xf32>
      pipe.accumulate %y to "q" use 0 : tensor<8x16xf32>

      // The result of a collective.
      // CHECK: %[[YR:.+]] = rt.collective all_reduce %[[YT]]
      // CHECK: rt.launch @[[ADD]](%[[YR]], %[[R]]) args() writes [1] {from = "accumulate"
      %z = dist.all_reduce sum %y over "tp" origin f serves "r" {tfm.layer = 1 : i64} : tensor<8x16xf32>
      pipe.accumulate %z to "r" use 0 : tensor<8x16xf32>

      // A GEMM and a sum over rows that others read, too: the sums are made apart.
      // CHECK: %[[GEMM:.+]] = rt.gemm %{{.*}}, %{{.*}} into %{{.*}} m 8 n 16 k 16 {beta = false
      // CHECK: %[[ZERO:.+]] = rt.zero
      // CHECK: %[[SUM:.+]] = rt.launch @{{kernel[0-9]+}}(%[[GEMM]], %[[W]], %[[ZERO]]) args() writes [2, 1] {from = "accumulate+reduce"
      // CHECK: rt.launch @{{kernel[0-9]+}}(%[[SUM]], %[[B]]) args() writes [1] {from = "accumulate"
      %t = pipe.received gradient : tensor<16x16xf32>
      %dw = tfm.einsum "be,ef->bf" %x, %t {tfm.layer = 1 : i64} : tensor<8x16xf32>, tensor<16x16xf32> -> tensor<8x16xf32>
      pipe.accumulate %dw to "w" use 0 : tensor<8x16xf32>
      pipe.export "dw" %dw : tensor<8x16xf32>
      %db = tfm.reduce sum %dw dims [0] {tfm.layer = 1 : i64} : tensor<8x16xf32> -> tensor<16xf32>
      pipe.accumulate %db to "b" use 0 : tensor<16xf32>
      pipe.export "db" %db : tensor<16xf32>

      // Scalars are added once, whatever the kernel around them does in each row.
      // CHECK: rt.launch @{{kernel[0-9]+}}(%{{[0-9]+}}, %{{[0-9]+}}, %[[S]], %[[LOSS]]) args() writes [1, 2, 3] {from = "exp+accumulate+loss"
      // CHECK: rt.launch @{{kernel[0-9]+}}(%{{.*}}) args() writes [2] {from = "broadcast+mul"
      %l = pipe.received activation : tensor<f32>
      %e = tfm.exp %l {tfm.layer = 2 : i64} : tensor<f32>
      pipe.accumulate %e to "s" use 0 : tensor<f32>
      pipe.loss %e : tensor<f32>
      %eb = tfm.broadcast %e dims [] {tfm.layer = 2 : i64} : tensor<f32> -> tensor<8x16xf32>
      %m = tfm.mul %eb, %g {tfm.layer = 2 : i64} : tensor<8x16xf32>

      // Two sums over rows into one accumulator: one operand, because operands of a
      // kernel do not alias.
      // CHECK: rt.launch @{{kernel[0-9]+}}(%{{[0-9]+}}, %[[B]]) args() writes [1] {from = "reduce+reduce"
      %v = pipe.received activation : tensor<8x16xf32>
      %v0 = tfm.reduce sum %v dims [0] {tfm.layer = 4 : i64} : tensor<8x16xf32> -> tensor<16xf32>
      pipe.accumulate %v0 to "b" use 0 : tensor<16xf32>
      %v1 = tfm.reduce sum %v dims [0] {tfm.layer = 4 : i64} : tensor<8x16xf32> -> tensor<16xf32>
      pipe.accumulate %v1 to "b" use 0 : tensor<16xf32>

      // A constant that no kernel reads is in memory all the same.
      // CHECK: %[[ONE:.+]] = rt.launch @{{kernel[0-9]+}}(%{{.*}}) args() writes [0] {from = "fill"
      // CHECK: pipe.save %[[ONE]] as 7
      %one = tfm.fill 1.0 {tfm.layer = 3 : i64} : tensor<8x16xf32>
      pipe.save %one as 7 : tensor<8x16xf32>
      pipe.send gradient %m : tensor<8x16xf32>
      return
    }
  }
}
