// RUN: mtc-opt %s -derive-eval -cut-stages | FileCheck %s
// Tests that four layers on two stages of two chunks alternate between the
// stages, that each virtual stage sends to the next, and that keys of saved
// values are those of the whole stage.

#config = #mtc.config<model = <name = "test", layers = 4, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 2>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 2, layers_per_stage = [1, 1, 1, 1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  // CHECK: func.func @stage0_chunk0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>}
  // CHECK: %[[A:.+]] = tfm.exp
  // CHECK-NEXT: pipe.send activation %[[A]]
  // CHECK: func.func @stage0_chunk0_bwd()
  // CHECK: func.func @stage0_chunk0_eval()
  // CHECK: func.func @stage0_chunk1_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 1, phase = forward>}
  // CHECK-NEXT: %[[B:.+]] = pipe.received activation
  // CHECK-NEXT: %[[C:.+]] = tfm.activation gelu %[[B]]
  // CHECK-NEXT: pipe.send activation %[[C]]
  // CHECK-NEXT: pipe.save %[[C]] as 0
  // CHECK: func.func @stage0_chunk1_bwd()
  // CHECK-NEXT: %[[S:.+]] = pipe.saved 0
  // CHECK-NEXT: %[[G:.+]] = pipe.received gradient
  // CHECK-NEXT: %[[D:.+]] = tfm.mul %[[G]], %[[S]]
  // CHECK-NEXT: pipe.send gradient %[[D]]
  // CHECK: func.func @stage1_chunk0_fwd()
  // CHECK-NEXT: pipe.received activation
  // CHECK-NEXT: %[[L:.+]] = tfm.log
  // CHECK-NEXT: pipe.send activation %[[L]]
  // CHECK: func.func @stage1_chunk1_fwd()
  // CHECK-NEXT: pipe.received activation
  // CHECK: pipe.loss
  func.func @microbatch(%x: tensor<4xf32> {tfm.input = #tfm.input<name = "loss_weights", axes = ["batch"]>}) -> (tensor<f32> {tfm.result = "loss"}) {
    %a = tfm.exp %x {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %b = tfm.log %a {tfm.layer = 2 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %c = tfm.activation gelu %b {tfm.layer = 3 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %s = tfm.save %c {tfm.layer = 3 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %d = tfm.exp %c {tfm.layer = 4 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %l = tfm.reduce sum %d dims [0] {tfm.layer = 5 : i64, tfm.phase = "forward"} : tensor<4xf32> -> tensor<f32>
    %g = tfm.fill 1.0 {tfm.layer = 5 : i64, tfm.phase = "backward"} : tensor<4xf32>
    %r = tfm.restore %s {tfm.layer = 3 : i64, tfm.phase = "backward"} : tensor<4xf32>
    %dc = tfm.mul %g, %r {tfm.layer = 3 : i64, tfm.phase = "backward"} : tensor<4xf32>
    %db = tfm.exp %dc {tfm.layer = 2 : i64, tfm.phase = "backward"} : tensor<4xf32>
    return %l : tensor<f32>
  }
}
