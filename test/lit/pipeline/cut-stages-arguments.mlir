// RUN: mtc-opt %s -split-input-file -cut-stages -verify-diagnostics
// Tests that functions that are cut name one parameter, or one input, alike.

#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [2]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
#scale = #tfm.param<name = "scale", axes = ["embed"], init = ones, std = 0.0 : f64, decay = false>
#bias = #tfm.param<name = "bias", axes = ["embed"], init = zeros, std = 0.0 : f64, decay = false>
#other = #tfm.param<name = "bias", axes = ["embed"], init = ones, std = 0.0 : f64, decay = false>
module attributes {mtc.config = #config} {
  // expected-note @+1 {{which is this one}}
  func.func @microbatch(%s: tensor<8xf32> {tfm.param = #scale}, %b: tensor<8xf32> {tfm.param = #bias}) {
    return
  }
  // expected-error @+1 {{expected the type and attributes that argument 0 of @microbatch has, found others}}
  func.func @eval(%s: tensor<8xf32> {tfm.param = #other}, %b: tensor<8xf32> {tfm.param = #bias}) {
    return
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [2]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
#ids = #tfm.input<name = "ids", axes = ["batch", "seq"]>
#labels = #tfm.input<name = "labels", axes = ["batch", "seq"]>
module attributes {mtc.config = #config} {
  // expected-note @+1 {{which is this one}}
  func.func @microbatch(%x: tensor<1x16xi32> {tfm.input = #ids}) {
    return
  }
  // expected-error @+1 {{expected the type and attributes that argument 0 of @microbatch has, found others}}
  func.func @microbatch_recompute(%x: tensor<1x16xi32> {tfm.input = #labels}) {
    return
  }
  func.func @eval(%x: tensor<1x16xi32> {tfm.input = #ids}) {
    return
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [2]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4xf32>) {
    return
  }
  // expected-error @+1 {{expected the arguments of @microbatch, which has 1, found 0}}
  func.func @eval() {
    return
  }
}
