// RUN: mtc-opt %s -derive-eval -cut-stages | FileCheck %s
// RUN: mtc-opt %s -derive-eval -cut-stages -build-schedule -expand-schedule | FileCheck %s --check-prefix=ROWS
// Tests that two values cross one boundary, that a value goes directly to each
// virtual stage that reads it, that its gradients come back from each of them to
// where they are added, and that each has pools of its own.

// CHECK: pipe.crossing activation of "train" from 0 to 1 : tensor<4xf32>
// CHECK-NEXT: pipe.crossing activation.1 of "train" from 0 to 1 : tensor<2x4xf32>
// CHECK-NEXT: pipe.crossing activation of "train" from 1 to 2 : tensor<4xf32>
// CHECK-NEXT: pipe.crossing activation.2 of "train" from 0 to 2 : tensor<4xf32>
// CHECK-NEXT: pipe.crossing gradient of "train" from 2 to 1 : tensor<4xf32>
// CHECK-NEXT: pipe.crossing gradient of "train" from 1 to 0 : tensor<4xf32>
// CHECK-NEXT: pipe.crossing gradient.1 of "train" from 2 to 0 : tensor<4xf32>
// CHECK-NEXT: pipe.crossing activation of "eval" from 0 to 1
// CHECK-NEXT: pipe.crossing activation.1 of "eval" from 0 to 1
// CHECK-LABEL: func.func @stage0_fwd
// CHECK: %[[A:.+]] = tfm.exp
// CHECK-DAG: pipe.send activation %[[A]]
// CHECK-DAG: pipe.send activation.2 %[[A]]
// CHECK: %[[B:.+]] = tfm.broadcast
// CHECK: pipe.send activation.1 %[[B]]
// CHECK-LABEL: func.func @stage0_bwd
// CHECK: %[[G1:.+]] = pipe.received gradient :
// CHECK: %[[G2:.+]] = pipe.received gradient.1 :
// CHECK: tfm.add %[[G1]], %[[G2]]
// CHECK-LABEL: func.func @stage1_fwd
// CHECK-DAG: pipe.received activation :
// CHECK-DAG: pipe.received activation.1 :
// CHECK-LABEL: func.func @stage2_fwd
// CHECK: %[[C:.+]] = pipe.received activation :
// CHECK: %[[S:.+]] = pipe.received activation.2 :
// CHECK: tfm.add %[[C]], %[[S]]
// CHECK-LABEL: func.func @stage2_bwd
// CHECK: pipe.received activation.2
// CHECK: pipe.send gradient.1

// ROWS-LABEL: pipe.timeline @train_stage0 entry "train" stage 0 pools <recv_gradient = 1, send_activation = 1, saved = 2, recv_gradient.1 = 1, send_activation.1 = 1, send_activation.2 = 1>
// ROWS: pipe.slot "F" microbatch 0 chunk 0 slots <send_activation = 0, saved = 0, send_activation.1 = 0, send_activation.2 = 0>
// ROWS-NEXT: pipe.exchange [#pipe.transfer<send = true, value = activation, microbatch = 0, virtual_stage = 0, peer = 1, slot = 0>, #pipe.transfer<send = true, value = activation.1, microbatch = 0, virtual_stage = 0, peer = 1, slot = 0>, #pipe.transfer<send = true, value = activation.2, microbatch = 0, virtual_stage = 0, peer = 2, slot = 0>]
// ROWS: #pipe.transfer<send = false, value = gradient.1, microbatch = 0, virtual_stage = 2, peer = 2, slot = 0>
// ROWS: pipe.slot "B" microbatch 0 chunk 0 slots <recv_gradient = 0, saved = 0, recv_gradient.1 = 0>
#config = #mtc.config<model = <name = "test", layers = 3, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 3>, batch = <micro = 1, microbatches = 2, global = 2, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1, 1, 1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4xf32> {tfm.input = #tfm.input<name = "loss_weights", axes = ["batch"]>}) -> (tensor<f32> {tfm.result = "loss"}) {
    %a = tfm.exp %x {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %b = tfm.broadcast %a dims [1] {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4xf32> -> tensor<2x4xf32>
    %e = tfm.exp %a {tfm.layer = 2 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %h = tfm.reduce sum %b dims [0] {tfm.layer = 2 : i64, tfm.phase = "forward"} : tensor<2x4xf32> -> tensor<4xf32>
    %c = tfm.add %e, %h {tfm.layer = 2 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %d = tfm.add %c, %a {tfm.layer = 3 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %s = tfm.save %a {tfm.layer = 3 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %l = tfm.reduce sum %d dims [0] {tfm.layer = 4 : i64, tfm.phase = "forward"} : tensor<4xf32> -> tensor<f32>
    %g = tfm.fill 1.0 {tfm.layer = 4 : i64, tfm.phase = "backward"} : tensor<4xf32>
    %r = tfm.restore %s {tfm.layer = 3 : i64, tfm.phase = "backward"} : tensor<4xf32>
    %g3 = tfm.mul %g, %r {tfm.layer = 3 : i64, tfm.phase = "backward"} : tensor<4xf32>
    %g2 = tfm.exp %g3 {tfm.layer = 2 : i64, tfm.phase = "backward"} : tensor<4xf32>
    %g1 = tfm.add %g2, %g3 {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<4xf32>
    return %l : tensor<f32>
  }
}
