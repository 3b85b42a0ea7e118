// RUN: mtc-opt %s | mtc-opt | FileCheck %s
// Tests that every pipe op prints what it parses.

// CHECK-LABEL: func.func @fragment
func.func @fragment() {
  // CHECK: pipe.param "w" : tensor<8x8xf32>
  %w = pipe.param "w" : tensor<8x8xf32>
  // CHECK: pipe.input "ids" : tensor<2x4xi32>
  %i = pipe.input "ids" : tensor<2x4xi32>
  // CHECK: pipe.sample : tensor<i64>
  %s = pipe.sample : tensor<i64>
  // CHECK: pipe.received activation : tensor<2x4x8xf32>
  %x = pipe.received activation : tensor<2x4x8xf32>
  // CHECK: pipe.send activation %
  pipe.send activation %x : tensor<2x4x8xf32>
  // CHECK: pipe.save %{{.*}} as 3 : tensor<2x4x8xf32>
  pipe.save %x as 3 : tensor<2x4x8xf32>
  // CHECK: pipe.saved 3 : tensor<2x4x8xf32>
  %k = pipe.saved 3 : tensor<2x4x8xf32>
  // CHECK: pipe.accumulate %{{.*}} to "w" use 0 : tensor<8x8xf32>
  pipe.accumulate %w to "w" use 0 : tensor<8x8xf32>
  %l = tfm.fill 0.0 : tensor<f32>
  // CHECK: pipe.loss %{{.*}} : tensor<f32>
  pipe.loss %l : tensor<f32>
  // CHECK: pipe.export "logits" %
  pipe.export "logits" %k : tensor<2x4x8xf32>
  // CHECK: %[[Z:.+]] = pipe.received gradient.1 : tensor<8xf32>
  %z = pipe.received gradient.1 : tensor<8xf32>
  // CHECK: pipe.send activation.63 %[[Z]] : tensor<8xf32>
  pipe.send activation.63 %z : tensor<8xf32>
  return
}
// CHECK: pipe.crossing activation of "train" from 0 to 1 : tensor<2x4x8xf32>
pipe.crossing activation of "train" from 0 to 1 : tensor<2x4x8xf32>
// CHECK: pipe.crossing gradient.1 of "train" from 3 to 0 : tensor<8xf32>
pipe.crossing gradient.1 of "train" from 3 to 0 : tensor<8xf32>
// CHECK: pipe.slot "F" microbatch 0 chunk 0 slots <saved = 1, send_activation.1 = 0, recv_gradient.2 = 3>
pipe.slot "F" microbatch 0 chunk 0 slots <recv_gradient.2 = 3, saved = 1, send_activation.1 = 0>
// CHECK: pipe.slot "B" microbatch 0 chunk 0 form recompute slots <saved_again = 1, split_again = 0, operand_again = 2>
pipe.slot "B" microbatch 0 chunk 0 form recompute slots <saved_again = 1, split_again = 0, operand_again = 2>
// CHECK: func.func @form() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward, form = "last|recompute">}
func.func @form() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward, form = "last|recompute">} { return }
// CHECK: pipe.schedule @again stages 2 chunks 1 microbatches 1 small 1 ["F0 B0", "F0 B0"]
pipe.schedule @again stages 2 chunks 1 microbatches 1 small 1 ["F0 B0", "F0 B0"]
// CHECK: pipe.schedule @train stages 2 chunks 1 microbatches 1 ["F0 B0", "F0 B0"]
pipe.schedule @train stages 2 chunks 1 microbatches 1 ["F0 B0", "F0 B0"]
// CHECK: pipe.timeline @train_stage0 entry "train" stage 0 pools <recv_gradient = 1, send_activation = 1, saved = 1>
pipe.timeline @train_stage0 entry "train" stage 0 pools <recv_gradient = 1, send_activation = 1, saved = 1> {
  // CHECK: pipe.slot "F" microbatch 0 chunk 0 slots <send_activation = 0, saved = 0>
  pipe.slot "F" microbatch 0 chunk 0 slots <send_activation = 0, saved = 0>
  // CHECK: pipe.exchange [#pipe.transfer<send = true, value = activation, microbatch = 0, virtual_stage = 0, peer = 1, slot = 0>]
  pipe.exchange [#pipe.transfer<send = true, value = activation, microbatch = 0, virtual_stage = 0, peer = 1, slot = 0>]
  // CHECK: pipe.exchange post [#pipe.transfer<send = true, value = activation, microbatch = 1, virtual_stage = 0, peer = 1, slot = 0>]
  pipe.exchange post [#pipe.transfer<send = true, value = activation, microbatch = 1, virtual_stage = 0, peer = 1, slot = 0>]
  // CHECK: pipe.exchange wait []
  pipe.exchange wait []
}
// CHECK: pipe.schedule @eval stages 1 chunks 1 microbatches 1 apart ["F0"]
pipe.schedule @eval stages 1 chunks 1 microbatches 1 apart ["F0"]
