// RUN: mtc-opt %s -split-input-file -derive-eval -verify-diagnostics
// Tests what derive-eval rejects: a forward that needs the backward.

// expected-error @+1 {{expected a function @microbatch with a body}}
module {}
// -----
module {
  func.func @microbatch() { return }
  // expected-error @+1 {{expected no @eval yet: this phase makes it}}
  func.func @eval() { return }
}
// -----
func.func @microbatch(%x: tensor<4xf32>) {
  %a = tfm.exp %x {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<4xf32>
  // expected-error @+1 {{expected operands of the forward, found one of the backward, or what is saved for it}}
  %b = tfm.exp %a {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4xf32>
  return
}
// -----
func.func @microbatch(%x: tensor<4xf32>) -> (tensor<4xf32> {tfm.result = "loss"}) {
  %a = tfm.exp %x {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<4xf32>
  // expected-error @+1 {{expected result 0 to be one of the forward, as it is no gradient}}
  return %a : tensor<4xf32>
}
