// RUN: mtc-opt %s -split-input-file -plan-recompute -verify-diagnostics
// Tests what plan-recompute cannot read.

// expected-error @+1 {{expected the module attribute mtc.config, found none}}
module {}
// -----
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>, recompute = <policy = full>>
// expected-error @+1 {{expected a function @microbatch with a body}}
module attributes {mtc.config = #config} {}
// -----
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>, recompute = <policy = full>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4xf32>) {
    // expected-error @+1 {{'tfm.log' op expected tfm.id, by which what computes it again names it, found none}}
    %e = tfm.log %x {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %s = tfm.save %e {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %r = tfm.restore %s {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<4xf32>
    %f = tfm.exp %r {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<4xf32>
    return
  }
}
