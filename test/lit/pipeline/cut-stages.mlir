// RUN: mtc-opt %s -derive-eval -cut-stages | FileCheck %s
// Tests that two layers on two stages become fragments: one tensor is sent each
// way, saved values are kept by the stage that reads them, and what was received
// is read again instead of kept.

#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 2>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1, 1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  // CHECK: pipe.crossing activation of "train" from 0 to 1 : tensor<4xf32>
  // CHECK-NEXT: pipe.crossing gradient of "train" from 1 to 0 : tensor<4xf32>
  // CHECK-NEXT: pipe.crossing activation of "eval" from 0 to 1 : tensor<4xf32>
  // CHECK-NOT: pipe.crossing
  // CHECK-LABEL: func.func @stage0_fwd
  // CHECK: %[[W0:.+]] = pipe.param "w0"
  // CHECK: %[[Y:.+]] = tfm.mul %{{.*}}, %[[W0]]
  // CHECK: pipe.send activation %[[Y]]
  // CHECK-LABEL: func.func @stage0_bwd
  // CHECK: %[[G:.+]] = pipe.received gradient
  // CHECK: %[[DW0:.+]] = tfm.mul %{{.*}}, %{{.*}}
  // CHECK: pipe.accumulate %[[DW0]] to "w0" use 0
  // CHECK-LABEL: func.func @stage0_eval
  // CHECK-NOT: pipe.save
  // CHECK-LABEL: func.func @stage1_fwd
  // CHECK: %[[X1:.+]] = pipe.received activation
  // CHECK-NOT: pipe.save
  // CHECK: pipe.loss
  // CHECK-LABEL: func.func @stage1_bwd
  // CHECK: pipe.received activation
  // CHECK: pipe.send gradient
  // CHECK-LABEL: func.func @stage1_eval
  // CHECK-NOT: func.func @microbatch
  func.func @microbatch(%x: tensor<4xf32> {tfm.input = #tfm.input<name = "loss_weights", axes = ["batch"]>},
      %w0: tensor<4xf32> {tfm.param = #tfm.param<name = "w0", axes = ["embed"], init = normal, std = 0.02 : f64, decay = true>},
      %w1: tensor<4xf32> {tfm.param = #tfm.param<name = "w1", axes = ["embed"], init = normal, std = 0.02 : f64, decay = true>})
      -> (tensor<f32> {tfm.result = "loss"}, tensor<4xf32> {tfm.grad = #tfm.grad<param = "w0", use = 0>}, tensor<4xf32> {tfm.grad = #tfm.grad<param = "w1", use = 0>}) {
    %y = tfm.mul %x, %w0 {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %s = tfm.save %y {tfm.layer = 2 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %z = tfm.mul %y, %w1 {tfm.layer = 2 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %l = tfm.reduce sum %z dims [0] {tfm.layer = 3 : i64, tfm.phase = "forward"} : tensor<4xf32> -> tensor<f32>
    %one = tfm.fill 1.0 {tfm.layer = 3 : i64, tfm.phase = "backward"} : tensor<f32>
    %dz = tfm.broadcast %one dims [] {tfm.layer = 3 : i64, tfm.phase = "backward"} : tensor<f32> -> tensor<4xf32>
    %y2 = tfm.restore %s {tfm.layer = 2 : i64, tfm.phase = "backward"} : tensor<4xf32>
    %dw1 = tfm.mul %dz, %y2 {tfm.layer = 2 : i64, tfm.phase = "backward"} : tensor<4xf32>
    %dy = tfm.mul %dz, %w1 {tfm.layer = 2 : i64, tfm.phase = "backward"} : tensor<4xf32>
    %dw0 = tfm.mul %dy, %x {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<4xf32>
    return %l, %dw0, %dw1 : tensor<f32>, tensor<4xf32>, tensor<4xf32>
  }
}
