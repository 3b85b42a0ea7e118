// RUN: mtc-opt %s -split-input-file -verify-training -verify-diagnostics
// Tests that each check of verify-training fires.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  // expected-error @+1 {{expected a gradient for each use of parameter "w", 1, found 0}}
  func.func @microbatch(%w: tensor<f32> {tfm.param = #tfm.param<name = "w", axes = [], init = normal, std = 0.02 : f64, decay = true>}) -> (tensor<f32> {tfm.result = "loss"}) {
    %r = tfm.exp %w {tfm.layer = 0 : i64, tfm.phase = "forward"} : tensor<f32>
    return %w : tensor<f32>
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  // expected-error @+1 {{expected uses of "w" in ascending order, found use 1}}
  func.func @microbatch(%w: tensor<f32> {tfm.param = #tfm.param<name = "w", axes = [], init = normal, std = 0.02 : f64, decay = true>}) -> (tensor<f32> {tfm.result = "loss"}, tensor<f32> {tfm.grad = #tfm.grad<param = "w", use = 1>}) {
    %r = tfm.exp %w {tfm.layer = 0 : i64, tfm.phase = "forward"} : tensor<f32>
    return %w, %w : tensor<f32>, tensor<f32>
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  // expected-error @+1 {{expected the gradient of "w" of type 'tensor<f32>', found 'tensor<4xf32>'}}
  func.func @microbatch(%w: tensor<f32> {tfm.param = #tfm.param<name = "w", axes = [], init = normal, std = 0.02 : f64, decay = true>}, %g: tensor<4xf32>) -> (tensor<f32> {tfm.result = "loss"}, tensor<4xf32> {tfm.grad = #tfm.grad<param = "w", use = 0>}) {
    %r = tfm.exp %w {tfm.layer = 0 : i64, tfm.phase = "forward"} : tensor<f32>
    return %w, %g : tensor<f32>, tensor<4xf32>
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4xf32>) {
    %e = tfm.exp %x {tfm.layer = 0 : i64, tfm.phase = "forward"} : tensor<4xf32>
    // expected-error @+1 {{expected a backward op to read forward values through tfm.restore, found a direct use of tfm.exp}}
    %d = tfm.exp %e {tfm.layer = 0 : i64, tfm.phase = "backward"} : tensor<4xf32>
    return
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4xf32>) {
    // expected-error @+1 {{expected attributes tfm.layer and tfm.phase}}
    %e = tfm.exp %x : tensor<4xf32>
    return
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  // expected-error @+1 {{expected result 0 to be the gradient of a parameter, found "v"}}
  func.func @microbatch(%x: tensor<f32>) -> (tensor<f32> {tfm.grad = #tfm.grad<param = "v", use = 0>}) {
    return %x : tensor<f32>
  }
}
// -----
// expected-error @+1 {{expected a function @microbatch}}
module {}
// -----
// A tied parameter that lost the gradient of its last use.
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  // expected-error @+1 {{expected a gradient for each use of parameter "w", 2, found 1}}
  func.func @microbatch(%w: tensor<f32> {tfm.param = #tfm.param<name = "w", axes = [], init = normal, std = 0.02 : f64, decay = true>, tfm.uses = 2 : i64}) -> (tensor<f32> {tfm.result = "loss"}, tensor<f32> {tfm.grad = #tfm.grad<param = "w", use = 0>}) {
    %a = tfm.exp %w {tfm.layer = 0 : i64, tfm.phase = "forward"} : tensor<f32>
    %b = tfm.add %a, %w {tfm.layer = 0 : i64, tfm.phase = "forward"} : tensor<f32>
    return %b, %w : tensor<f32>, tensor<f32>
  }
}
// -----
// It and what it says of itself.
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  // expected-error @+1 {{expected 2 uses of "w", as ops of the forward read it, found 1 (tfm.uses)}}
  func.func @microbatch(%w: tensor<f32> {tfm.param = #tfm.param<name = "w", axes = [], init = normal, std = 0.02 : f64, decay = true>}) -> (tensor<f32> {tfm.result = "loss"}, tensor<f32> {tfm.grad = #tfm.grad<param = "w", use = 0>}) {
    %a = tfm.exp %w {tfm.layer = 0 : i64, tfm.phase = "forward"} : tensor<f32>
    %b = tfm.add %a, %w {tfm.layer = 0 : i64, tfm.phase = "forward"} : tensor<f32>
    return %b, %w : tensor<f32>, tensor<f32>
  }
}
// -----
// What it computes again is none of the forward.
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4xf32>, %y: tensor<4xf32>) {
    %e = tfm.exp %x {tfm.layer = 1 : i64, tfm.phase = "forward", tfm.id = 7 : i64} : tensor<4xf32>
    // expected-error @+1 {{'tfm.exp' op expected tfm.recomputes on an op of the backward, the tfm.id of one of the forward, found 8 : i64}}
    %a = tfm.exp %x {tfm.layer = 1 : i64, tfm.phase = "backward", tfm.recomputes = 8 : i64} : tensor<4xf32>
    return
  }
}
// -----
// Another op.
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4xf32>, %y: tensor<4xf32>) {
    %e = tfm.scale %x by 2.0 {tfm.layer = 1 : i64, tfm.phase = "forward", tfm.id = 7 : i64} : tensor<4xf32>
    // expected-error @+1 {{'tfm.scale' op expected the op that it computes again, tfm.scale with its attributes and types, found another}}
    %a = tfm.scale %x by 3.0 {tfm.layer = 1 : i64, tfm.phase = "backward", tfm.recomputes = 7 : i64} : tensor<4xf32>
    return
  }
}
// -----
// Of another value.
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4xf32>, %y: tensor<4xf32>) {
    %e = tfm.exp %x {tfm.layer = 1 : i64, tfm.phase = "forward", tfm.id = 7 : i64} : tensor<4xf32>
    // expected-error @+1 {{expected operand 0 to be that of the op that it computes again, restored or computed again, found another value}}
    %a = tfm.exp %y {tfm.layer = 1 : i64, tfm.phase = "backward", tfm.recomputes = 7 : i64} : tensor<4xf32>
    return
  }
}
// -----
// Twice in a layer.
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4xf32>, %y: tensor<4xf32>) {
    %e = tfm.exp %x {tfm.layer = 1 : i64, tfm.phase = "forward", tfm.id = 7 : i64} : tensor<4xf32>
    %a = tfm.exp %x {tfm.layer = 1 : i64, tfm.phase = "backward", tfm.recomputes = 7 : i64} : tensor<4xf32>
    // expected-error @+1 {{expected what it computes again once in layer 1, found it twice}}
    %b = tfm.exp %x {tfm.layer = 1 : i64, tfm.phase = "backward", tfm.recomputes = 7 : i64} : tensor<4xf32>
    return
  }
}
// -----
// A chain: of a saved value, and of what is computed again.
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4xf32>) {
    %e = tfm.exp %x {tfm.layer = 1 : i64, tfm.phase = "forward", tfm.id = 7 : i64} : tensor<4xf32>
    %s = tfm.save %e {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %f = tfm.log %e {tfm.layer = 1 : i64, tfm.phase = "forward", tfm.id = 8 : i64} : tensor<4xf32>
    %g = tfm.exp %f {tfm.layer = 1 : i64, tfm.phase = "forward", tfm.id = 9 : i64} : tensor<4xf32>
    %r = tfm.restore %s {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<4xf32>
    %f2 = tfm.log %r {tfm.layer = 1 : i64, tfm.phase = "backward", tfm.recomputes = 8 : i64} : tensor<4xf32>
    %g2 = tfm.exp %f2 {tfm.layer = 1 : i64, tfm.phase = "backward", tfm.recomputes = 9 : i64} : tensor<4xf32>
    return
  }
}
