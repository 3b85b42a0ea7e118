// RUN: mtc-opt %s -differentiate -verify-training | FileCheck %s
// Tests that scale_gradient multiplies the gradient, and that its value is that of its
// operand: nothing in the forward reads the factor.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  // CHECK-LABEL: func.func @microbatch
  // CHECK-SAME: %[[FACTOR:[^ ]+]]: tensor<4xf32> {tfm.input
  func.func @microbatch(%f: tensor<4xf32> {tfm.input = #tfm.input<name = "gradient_weights", axes = ["batch"]>},
      %w: tensor<4xf32> {tfm.param = #tfm.param<name = "w", axes = ["embed"], init = normal, std = 0.02 : f64, decay = true>})
      -> (tensor<f32> {tfm.result = "loss"}) {
    // CHECK-NOT: tfm.scale_gradient
    // CHECK: %[[X:.+]] = tfm.mul %{{.*}}, %{{.*}} {
    %x = tfm.mul %w, %w {tfm.id = 0 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %y = tfm.scale_gradient %x by %f {tfm.id = 1 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4xf32>
    // CHECK: tfm.reduce sum %[[X]] dims [0]
    %l = tfm.reduce sum %y dims [0] {tfm.id = 2 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4xf32> -> tensor<f32>
    // CHECK: %[[SEED:.+]] = tfm.fill 1.000000e+00
    // CHECK: %[[DY:.+]] = tfm.broadcast %[[SEED]] dims []
    // CHECK: tfm.mul %[[DY]], %[[FACTOR]]
    // CHECK-NOT: tfm.scale_gradient
    return %l : tensor<f32>
  }
}
