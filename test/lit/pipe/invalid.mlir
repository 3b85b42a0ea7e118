// RUN: mtc-opt %s -split-input-file -verify-diagnostics
// Tests that each branch of the pipe dialect's verifiers fires.

// expected-error @+1 {{expected pipe.fragment as the dialect's only attribute, found "pipe.stage"}}
func.func @stage() attributes {pipe.stage = 0 : i64} {
  return
}
// -----
// expected-error @+1 {{expected #pipe.fragment with a stage and a chunk, counted from 0, found "forward"}}
func.func @phase() attributes {pipe.fragment = "forward"} {
  return
}
// -----
// expected-error @+1 {{expected #pipe.fragment with a stage and a chunk, counted from 0, found #pipe.fragment<stage = -1}}
func.func @before_the_first() attributes {pipe.fragment = #pipe.fragment<stage = -1, chunk = 0, phase = eval>} {
  return
}
// -----
// expected-error @+1 {{expected a logical axis per dimension, 2, found 1}}
pipe.parameter #tfm.param<name = "w", axes = ["embed"], init = ones, std = 0.0 : f64, decay = true> local tensor<2x4xf32>
// -----
// expected-error @+1 {{expected a sharding of 1 dimensions, found 2}}
pipe.parameter #tfm.param<name = "w", axes = ["embed"], init = ones, std = 0.0 : f64, decay = true> sharding #dist.sharding<[{}, {"tp"}]> local tensor<4xf32>
// -----
// expected-error @+1 {{expected a parameter that is partial over no axis, found one}}
pipe.parameter #tfm.param<name = "w", axes = ["embed"], init = ones, std = 0.0 : f64, decay = true> sharding #dist.sharding<[{}], partial = {"tp"}> local tensor<4xf32>
// -----
// expected-error @+1 {{expected one mesh axis that splits it, found several}}
pipe.parameter #tfm.param<name = "w", axes = ["embed"], init = ones, std = 0.0 : f64, decay = true> sharding #dist.sharding<[{"dp", "tp"}]> local tensor<4xf32>
// -----
// expected-error @+1 {{expected numbers that count from 0}}
pipe.slot "F" microbatch 0 chunk 0 slots <saved = -1>
// -----
// expected-error @+1 {{expected a number of 32 bits for saved, counted from 0, found 2147483647}}
pipe.slot "F" microbatch 0 chunk 0 slots <saved = 2147483647>
// -----
// expected-error @+1 {{expected a pool (recv_activation, recv_gradient, send_activation, send_gradient, saved, split, operand, saved_again, split_again or operand_again, or of a further value, as in recv_activation.1), found kept}}
pipe.slot "F" microbatch 0 chunk 0 slots <kept = 1>
// -----
func.func @input_of_no_name() {
  // expected-error @+1 {{expected ids, labels, loss_weights, gradient_weights or document_starts, found "words"}}
  %x = pipe.input "words" : tensor<2x4xi32>
  return
}
// -----
func.func @input_of_another_type() {
  // expected-error @+1 {{expected elements of f32 of loss_weights, found 'tensor<2x4xi32>'}}
  %x = pipe.input "loss_weights" : tensor<2x4xi32>
  return
}
// -----
func.func @ids_of_another_type() {
  // expected-error @+1 {{expected elements of i32 of ids, found 'tensor<2x4xf32>'}}
  %x = pipe.input "ids" : tensor<2x4xf32>
  return
}
// -----
func.func @unknown() {
  // expected-error @+2 {{failed to parse Pipe_CrossingName parameter}}
  // expected-error @+1 {{expected a value that crosses: activation or gradient, or a further one, activation.1 to gradient.63, found activation.64}}
  %x = pipe.received activation.64 : tensor<4xf32>
  return
}
// -----
// expected-error @+1 {{expected activation.1 to go to a later virtual stage, found it to go from 2 to 0}}
pipe.crossing activation.1 of "train" from 2 to 0 : tensor<4xf32>
// -----
// expected-error @+1 {{expected gradient to go to an earlier virtual stage, found it to go from 0 to 1}}
pipe.crossing gradient of "train" from 0 to 1 : tensor<4xf32>
// -----
// expected-error @+1 {{expected a name with a number, as the value does not go to a neighbour, found activation from 0 to 2}}
pipe.crossing activation of "train" from 0 to 2 : tensor<4xf32>
// -----
// expected-error @+1 {{expected each pool once, found saved twice}}
module attributes {test.pools = #pipe.per_pool<saved = 1, saved = 2>} {}
// -----
// expected-error @+1 {{op attribute 'type' failed to satisfy constraint}}
pipe.crossing activation of "train" from 0 to 1 : tensor<4xindex>
// -----
func.func @f() {
  // expected-error @+1 {{expects parent op 'builtin.module'}}
  pipe.crossing activation of "train" from 0 to 1 : tensor<4xf32>
  return
}
// -----
// expected-error @+1 {{expected one use or more, found 0}}
pipe.parameter #tfm.param<name = "w", axes = ["embed"], init = ones, std = 0.0 : f64, decay = true> uses 0 local tensor<4xf32>
// -----
// expected-error @+1 {{expected stages times chunks to be 1 to 1024, found 0 times 1}}
pipe.schedule @train stages 0 chunks 1 microbatches 1 []
// -----
// expected-error @+1 {{expected stages times chunks to be 1 to 1024, found 4294967297 times 1}}
pipe.schedule @train stages 4294967297 chunks 1 microbatches 1 ["F0 B0"]
// -----
// expected-error @+1 {{expected stages times chunks to be 1 to 1024, found 2 times 1000}}
pipe.schedule @train stages 2 chunks 1000 microbatches 1 ["F0 B0", "F0 B0"]
// -----
// expected-error @+1 {{expected 1 to 1048576 microbatches, found 2147483647}}
pipe.schedule @eval stages 1 chunks 1 microbatches 2147483647 ["F0"]
// -----
// expected-error @+1 {{expected 0 to 1048576 small slots, found -1}}
pipe.schedule @train stages 1 chunks 1 microbatches 1 small -1 ["F0 B0"]
// -----
// expected-error @+1 {{expected only a forward and a backward to have a form that computes again (form = recompute), found phase eval}}
func.func @f() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = eval, form = recompute>} { return }
// -----
// expected-error @+1 {{expected a line of slots for each of 2 stages, found 1}}
pipe.schedule @train stages 2 chunks 1 microbatches 1 ["F0 B0"]
// -----
pipe.timeline @t entry "train" stage 0 pools <saved = 1> {
  // expected-error @+1 {{expected post, wait or transfers, found posts}}
  pipe.exchange posts []
}
