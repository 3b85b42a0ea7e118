// RUN: mtc-opt %s -split-input-file -differentiate -verify-training | FileCheck %s
// Tests that the backward of a norm reads what its kind saves: a layer norm its mean
// and root, an RMS norm its root only; and that only a bias that is there has a gradient.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  // CHECK-LABEL: func.func @microbatch
  // CHECK-SAME: -> (tensor<f32> {tfm.result = "loss"}, tensor<8xf32> {tfm.grad = #tfm.grad<param = "g", use = 0>}, tensor<8xf32> {tfm.grad = #tfm.grad<param = "b", use = 0>})
  func.func @microbatch(%x: tensor<4x8xf32> {tfm.input = #tfm.input<name = "x", axes = ["batch", "embed"]>},
      %g: tensor<8xf32> {tfm.param = #tfm.param<name = "g", axes = ["embed"], init = ones, std = 0.0 : f64, decay = false>},
      %b: tensor<8xf32> {tfm.param = #tfm.param<name = "b", axes = ["embed"], init = zeros, std = 0.0 : f64, decay = false>})
      -> (tensor<f32> {tfm.result = "loss"}) {
    // CHECK: %[[Y:.+]], %[[M:.+]], %[[R:.+]] = tfm.norm layer_norm
    %y, %m, %r = tfm.norm layer_norm %x, %g, %b {eps = 1.0e-05 : f64, tfm.id = 0 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
    // CHECK-DAG: %[[KEPT_M:.+]] = tfm.save %[[M]]
    // CHECK-DAG: %[[KEPT_R:.+]] = tfm.save %[[R]]
    %l = tfm.reduce sum %y dims [0, 1] {tfm.id = 1 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32> -> tensor<f32>
    // CHECK-DAG: %[[M2:.+]] = tfm.restore %[[KEPT_M]]
    // CHECK-DAG: %[[R2:.+]] = tfm.restore %[[KEPT_R]]
    // CHECK: %[[DG:.+]] = tfm.norm_dscale layer_norm %[[DY:.+]], %{{.+}}, %[[M2]], %[[R2]] {
    // CHECK: %[[DB:.+]] = tfm.reduce sum %[[DY]] dims [0]
    // CHECK: return %{{.+}}, %[[DG]], %[[DB]]
    return %l : tensor<f32>
  }
}

// -----
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  // CHECK-LABEL: func.func @microbatch
  // CHECK-SAME: -> (tensor<f32> {tfm.result = "loss"}, tensor<8x8xf32> {tfm.grad = #tfm.grad<param = "w", use = 0>}, tensor<8xf32> {tfm.grad = #tfm.grad<param = "g", use = 0>})
  func.func @microbatch(%x: tensor<4x8xf32> {tfm.input = #tfm.input<name = "x", axes = ["batch", "embed"]>},
      %w: tensor<8x8xf32> {tfm.param = #tfm.param<name = "w", axes = ["embed", "ffn"], init = normal, std = 0.02 : f64, decay = true>},
      %g: tensor<8xf32> {tfm.param = #tfm.param<name = "g", axes = ["ffn"], init = ones, std = 0.0 : f64, decay = false>})
      -> (tensor<f32> {tfm.result = "loss"}) {
    // CHECK: %[[U:.+]] = tfm.einsum
    %u = tfm.einsum "be,ef->bf" %x, %w {tfm.id = 0 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    // CHECK: %[[KEPT_U:.+]] = tfm.save %[[U]]
    // CHECK: %{{.+}}, %[[R:.+]] = tfm.norm rms_norm %[[U]], %[[G:.+]] {eps = 1.000000e-05 : f64
    %y, %r = tfm.norm rms_norm %u, %g {eps = 1.0e-05 : f64, tfm.id = 1 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>, tensor<4xf32>
    // CHECK: %[[KEPT_R:.+]] = tfm.save %[[R]]
    %l = tfm.reduce sum %y dims [0, 1] {tfm.id = 2 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32> -> tensor<f32>
    // CHECK-DAG: %[[U2:.+]] = tfm.restore %[[KEPT_U]]
    // CHECK-DAG: %[[R2:.+]] = tfm.restore %[[KEPT_R]]
    // CHECK: %[[DU:.+]] = tfm.norm_dx rms_norm %[[DY:.+]], %[[U2]], %[[G]], %[[R2]] {
    // CHECK: %[[DG:.+]] = tfm.norm_dscale rms_norm %[[DY]], %[[U2]], %[[R2]] {
    // CHECK: %[[DW:.+]] = tfm.einsum "be,bf->ef" %{{.+}}, %[[DU]]
    // CHECK: return %{{.+}}, %[[DW]], %[[DG]]
    return %l : tensor<f32>
  }
}
