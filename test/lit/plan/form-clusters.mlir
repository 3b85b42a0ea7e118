// RUN: mtc-opt %s -form-clusters | FileCheck %s
// Tests what becomes one region: ops of one layer between two calls. Calls stand
// between clusters, sinks behind what they add, a constant stays outside, a cast to a
// wider type is made in each cluster that reads it, and markers stand last.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    // CHECK-LABEL: func.func @stage0_fwd
    // CHECK-SAME: rt.collectives = [{count = 64 : i64, group = "tp", kind = "all_reduce", serves = "w"}]
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %w = pipe.param "w" : tensor<8x16xf32>
      %b = pipe.param "b" : tensor<16xf32>
      // CHECK: %[[U:.+]] = tfm.einsum
      // CHECK: %[[HALF:.+]] = tfm.fill 5.000000e-01
      // CHECK-NEXT: %[[R:.+]] = dist.all_reduce sum %[[U]]
      %u = tfm.einsum "be,ef->bf" %x, %w {tfm.layer = 1 : i64} : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
      %half = tfm.fill 5.000000e-01 {tfm.layer = 1 : i64} : tensor<4x16xf32>
      %r = dist.all_reduce sum %u over "tp" origin g serves "w" {tfm.layer = 1 : i64} : tensor<4x16xf32>
      // What is read behind the cluster is yielded.
      // CHECK: %[[V:.+]]:2 = rt.cluster -> (tensor<4x16xf32>, tensor<4x16xf32>) {
      // CHECK-NEXT: %[[BB:.+]] = tfm.broadcast
      // CHECK-NEXT: %[[S:.+]] = tfm.add %[[R]], %[[BB]]
      // CHECK-NEXT: %[[H:.+]] = tfm.mul %[[S]], %[[HALF]]
      // CHECK-NEXT: %[[A:.+]] = tfm.activation relu %[[H]]
      // CHECK-NEXT: rt.yield %[[S]], %[[A]] : tensor<4x16xf32>, tensor<4x16xf32>
      // CHECK-NEXT: }
      %bb = tfm.broadcast %b dims [1] {tfm.layer = 1 : i64} : tensor<16xf32> -> tensor<4x16xf32>
      %s = tfm.add %r, %bb {tfm.layer = 1 : i64} : tensor<4x16xf32>
      pipe.save %s as 0 : tensor<4x16xf32>
      %h = tfm.mul %s, %half {tfm.layer = 1 : i64} : tensor<4x16xf32>
      %v = tfm.activation relu %h {tfm.layer = 1 : i64} : tensor<4x16xf32>
      // Another layer is another cluster.
      // CHECK-NEXT: %[[Z:.+]] = rt.cluster -> (tensor<4x16xf32>) {
      // CHECK-NEXT: tfm.exp %[[V]]#1
      // CHECK-NEXT: rt.yield
      // CHECK-NEXT: }
      // CHECK-NEXT: pipe.save %[[V]]#0 as 0
      // CHECK-NEXT: pipe.send activation %[[Z]]
      // CHECK-NEXT: return
      %z = tfm.exp %v {tfm.layer = 2 : i64} : tensor<4x16xf32>
      pipe.send activation %z : tensor<4x16xf32>
      return
    }
    // CHECK-LABEL: func.func @stage0_bwd
    func.func @stage0_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
      %x = pipe.received activation : tensor<4x8xbf16>
      %dz = pipe.received gradient : tensor<4x16xbf16>
      // CHECK: rt.cluster -> (tensor<16xf32>) {
      // CHECK-NEXT: tfm.cast
      // CHECK-NEXT: tfm.reduce
      // CHECK: tfm.einsum
      // CHECK-NEXT: pipe.accumulate %{{.*}} to "w" use 0
      // CHECK: rt.cluster {
      // CHECK-NEXT: tfm.cast
      // CHECK-NEXT: %[[DB:.+]] = tfm.reduce
      // CHECK-NEXT: pipe.accumulate %[[DB]] to "b" use 0 {{.*}} : tensor<16xf32>
      // CHECK-NEXT: }
      %wide = tfm.cast %dz {tfm.layer = 1 : i64} : tensor<4x16xbf16> -> tensor<4x16xf32>
      %sum = tfm.reduce sum %wide dims [0] {tfm.layer = 1 : i64} : tensor<4x16xf32> -> tensor<16xf32>
      pipe.export "sum" %sum : tensor<16xf32>
      %dw = tfm.einsum "be,bf->ef" %x, %dz {tfm.layer = 1 : i64} : tensor<4x8xbf16>, tensor<4x16xbf16> -> tensor<8x16xf32>
      %db = tfm.reduce sum %wide dims [0] {tfm.layer = 1 : i64} : tensor<4x16xf32> -> tensor<16xf32>
      pipe.accumulate %db to "b" use 0 : tensor<16xf32>
      pipe.accumulate %dw to "w" use 0 : tensor<8x16xf32>
      return
    }
  }
}
