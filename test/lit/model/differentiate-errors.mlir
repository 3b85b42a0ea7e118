// RUN: mtc-opt %s -split-input-file -differentiate -verify-diagnostics
// Tests that differentiate refuses what it has no rule for.

func.func @microbatch(%w: tensor<4x8xf32> {tfm.param = #tfm.param<name = "w", axes = ["batch", "embed"], init = normal, std = 0.02 : f64, decay = true>}) -> (tensor<4xf32> {tfm.result = "loss"}) {
  // expected-error @+1 {{expected a maximum behind tfm.stop_gradient; it has no gradient rule}}
  %m = tfm.reduce max %w dims [1] {tfm.id = 0 : i64, tfm.layer = 0 : i64, tfm.phase = "forward"} : tensor<4x8xf32> -> tensor<4xf32>
  return %m : tensor<4xf32>
}
// -----
func.func @microbatch(%x: tensor<f32>) -> (tensor<f32> {tfm.result = "loss"}) {
  // expected-error @+1 {{expected a loss that depends on a parameter}}
  return %x : tensor<f32>
}
// -----
// expected-error @+1 {{expected a function @microbatch}}
module {}
