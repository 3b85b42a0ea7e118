// RUN: mtc-opt %s -split-input-file -differentiate -verify-diagnostics
// Tests that differentiate rejects what it has no rule for.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%w: tensor<4x8xf32> {tfm.param = #tfm.param<name = "w", axes = ["batch", "embed"], init = normal, std = 0.02 : f64, decay = true>}) -> (tensor<4xf32> {tfm.result = "loss"}) {
    // expected-error @+1 {{expected a maximum behind tfm.stop_gradient; it has no gradient rule}}
    %m = tfm.reduce max %w dims [1] {tfm.id = 0 : i64, tfm.layer = 0 : i64, tfm.phase = "forward"} : tensor<4x8xf32> -> tensor<4xf32>
    return %m : tensor<4xf32>
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<f32>) -> (tensor<f32> {tfm.result = "loss"}) {
    // expected-error @+1 {{expected a loss that depends on a parameter}}
    return %x : tensor<f32>
  }
}
// -----
// expected-error @+1 {{expected a function @microbatch}}
module {}
// -----
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4x8xf32>, %s: tensor<8xf32> {tfm.param = #tfm.param<name = "s", axes = ["embed"], init = ones, std = 0.0 : f64, decay = false>}) -> (tensor<4xf32> {tfm.result = "loss"}) {
    // expected-error @+1 {{found a cotangent of the mean; they have no gradient rule}}
    %y, %mean, %rstd = tfm.norm layer_norm %x, %s, %s {eps = 1.0e-05 : f64, tfm.id = 0 : i64, tfm.layer = 0 : i64, tfm.phase = "forward"} : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
    return %mean : tensor<4xf32>
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4x8xf32>, %s: tensor<8xf32> {tfm.param = #tfm.param<name = "s", axes = ["embed"], init = ones, std = 0.0 : f64, decay = false>}) -> (tensor<4xf32> {tfm.result = "loss"}) {
    // expected-error @+1 {{found a cotangent of 1 / the root; they have no gradient rule}}
    %y, %mean, %rstd = tfm.norm layer_norm %x, %s, %s {eps = 1.0e-05 : f64, tfm.id = 0 : i64, tfm.layer = 0 : i64, tfm.phase = "forward"} : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
    return %rstd : tensor<4xf32>
  }
}
// -----
// The root is another result of an RMS norm than of a layer norm.
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4x8xf32>, %s: tensor<8xf32> {tfm.param = #tfm.param<name = "s", axes = ["embed"], init = ones, std = 0.0 : f64, decay = false>}) -> (tensor<4xf32> {tfm.result = "loss"}) {
    // expected-error @+1 {{found a cotangent of 1 / the root; they have no gradient rule}}
    %y, %rstd = tfm.norm rms_norm %x, %s {eps = 1.0e-05 : f64, tfm.id = 0 : i64, tfm.layer = 0 : i64, tfm.phase = "forward"} : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>, tensor<4xf32>
    return %rstd : tensor<4xf32>
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%qkv: tensor<4x8x4x3x16xf32> {tfm.param = #tfm.param<name = "w", axes = ["batch", "seq", "heads", "stack", "head_dim"], init = ones, std = 0.0 : f64, decay = false>}, %at: tensor<i64>) -> (tensor<4x4x8xf32> {tfm.result = "loss"}) {
    // expected-error @+1 {{found a cotangent of it; it has no gradient rule}}
    %o, %l = tfm.attention %qkv at %at {causal = true, scale = 0.25 : f64, rate = 0.0 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64, tfm.id = 0 : i64, tfm.layer = 0 : i64, tfm.phase = "forward"} : (tensor<4x8x4x3x16xf32>), tensor<i64> -> tensor<4x8x4x16xf32>, tensor<4x4x8xf32>
    return %l : tensor<4x4x8xf32>
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%w: tensor<f32> {tfm.param = #tfm.param<name = "w", axes = [], init = ones, std = 0.0 : f64, decay = false>}) -> (tensor<f32> {tfm.result = "loss"}, tensor<f32>) {
    // expected-error @+1 {{expected one result, the loss, found 2}}
    return %w, %w : tensor<f32>, tensor<f32>
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%ids: tensor<4xi32>, %w: tensor<4x8xf32> {tfm.param = #tfm.param<name = "w", axes = ["batch", "embed"], init = ones, std = 0.0 : f64, decay = false>}) -> (tensor<9x8xf32> {tfm.result = "loss"}) {
    // expected-error @+1 {{has no gradient rule: a backward op; second derivatives are not taken}}
    %g = tfm.embed_grad %ids, %w {tfm.id = 0 : i64, tfm.layer = 0 : i64, tfm.phase = "forward"} : tensor<4xi32>, tensor<4x8xf32> -> tensor<9x8xf32>
    return %g : tensor<9x8xf32>
  }
}
