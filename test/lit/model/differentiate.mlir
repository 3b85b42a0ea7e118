// RUN: mtc-opt %s -differentiate -verify-training | FileCheck %s
// Tests that the backward of two matmuls with a bias follows from per-op rules,
// that the bias sum is computed again instead of saved, and that a parameter
// used twice has one gradient per use, in forward order.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  // CHECK-LABEL: func.func @microbatch
  // CHECK-SAME: -> (tensor<f32> {tfm.result = "loss"}, tensor<8x8xf32> {tfm.grad = #tfm.grad<param = "w", use = 0>}, tensor<8x8xf32> {tfm.grad = #tfm.grad<param = "w", use = 1>}, tensor<8xf32> {tfm.grad = #tfm.grad<param = "b", use = 0>})
  func.func @microbatch(%x: tensor<4x8xf32> {tfm.input = #tfm.input<name = "x", axes = ["batch", "embed"]>},
      %w: tensor<8x8xf32> {tfm.param = #tfm.param<name = "w", axes = ["embed", "ffn"], init = normal, std = 0.02 : f64, decay = true>},
      %b: tensor<8xf32> {tfm.param = #tfm.param<name = "b", axes = ["ffn"], init = zeros, std = 0.0 : f64, decay = false>})
      -> (tensor<f32> {tfm.result = "loss"}) {
    // CHECK: %[[U:.+]] = tfm.einsum "be,ef->bf" %{{.*}}, %[[W:.+]] {
    %u = tfm.einsum "be,ef->bf" %x, %w {tfm.id = 0 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    // CHECK: %[[KEPT_U:.+]] = tfm.save %[[U]]
    %bb = tfm.broadcast %b dims [1] {tfm.id = 1 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<8xf32> -> tensor<4x8xf32>
    %s = tfm.add %u, %bb {tfm.id = 2 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32>
    // CHECK: %[[V:.+]] = tfm.activation gelu
    %v = tfm.activation gelu %s {tfm.id = 3 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32>
    // CHECK: %[[KEPT_V:.+]] = tfm.save %[[V]]
    %y = tfm.einsum "bf,fe->be" %v, %w {tfm.id = 4 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    %l = tfm.reduce sum %y dims [0, 1] {tfm.id = 5 : i64, tfm.layer = 2 : i64, tfm.phase = "forward"} : tensor<4x8xf32> -> tensor<f32>
    // CHECK: %[[SEED:.+]] = tfm.fill 1.000000e+00
    // CHECK: %[[DY:.+]] = tfm.broadcast %[[SEED]] dims []
    // CHECK: %[[DV:.+]] = tfm.einsum "be,fe->bf" %[[DY]], %[[W]]
    // CHECK: %[[V2:.+]] = tfm.restore %[[KEPT_V]]
    // CHECK: %[[SECOND:.+]] = tfm.einsum "bf,be->fe" %[[V2]], %[[DY]]
    // CHECK: %[[U2:.+]] = tfm.restore %[[KEPT_U]]
    // CHECK: %[[S2:.+]] = tfm.add %[[U2]]
    // CHECK: %[[DS:.+]] = tfm.activation_grad gelu %[[S2]], %[[DV]]
    // CHECK: %[[DB:.+]] = tfm.reduce sum %[[DS]] dims [0]
    // CHECK: %[[FIRST:.+]] = tfm.einsum "be,bf->ef" %{{.*}}, %[[DS]]
    // CHECK: return %{{.*}}, %[[FIRST]], %[[SECOND]], %[[DB]]
    return %l : tensor<f32>
  }
}
