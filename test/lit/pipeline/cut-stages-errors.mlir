// RUN: mtc-opt %s -split-input-file -derive-eval -cut-stages -verify-diagnostics
// RUN: echo 'func.func @microbatch() { return }' | not mtc-opt -cut-stages 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NO-EVAL
// NO-EVAL: expected a function @eval with a body
// Tests that cut-stages rejects cuts that it cannot make.

#config = #mtc.config<model = <name = "test", layers = 3, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 2>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [2, 2]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
// expected-error @+1 {{expected layers_per_stage with 2 entries of 0 or more that add to 3, found 2, 2}}
module attributes {mtc.config = #config} {
  func.func @microbatch() { return }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 3, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 3>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1, 1, 1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4xf32> {tfm.input = #tfm.input<name = "ids", axes = ["batch"]>}) {
    %a = tfm.exp %x {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %b = tfm.exp %x {tfm.layer = 3 : i64, tfm.phase = "forward"} : tensor<4xf32>
    // expected-error @+1 {{expected values of earlier virtual stages than 0 or of this one, found one of virtual stage 2}}
    %c = tfm.add %a, %b {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4xf32>
    return
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 2>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1, 1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4xf32> {tfm.input = #tfm.input<name = "ids", axes = ["batch"]>}) {
    %a = tfm.exp %x {tfm.layer = 2 : i64, tfm.phase = "forward"} : tensor<4xf32>
    // expected-error @+1 {{expected values of its own phase, found one of the other, of virtual stage 1}}
    %b = tfm.exp %a {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<4xf32>
    return
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 2>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1, 1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4xf32> {tfm.input = #tfm.input<name = "ids", axes = ["batch"]>}) {
    // expected-error @+1 {{expected a tfm.save as operand}}
    %a = tfm.restore %x {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<4xf32>
    return
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 2>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1, 1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4xf32> {tfm.input = #tfm.input<name = "ids", axes = ["batch"]>}) {
    // expected-error @+1 {{expected a layer that a stage holds}}
    %a = tfm.exp %x {tfm.layer = 9 : i64, tfm.phase = "forward"} : tensor<4xf32>
    return
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1025>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1, 1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
// expected-error @+1 {{expected pp times chunks to be 1 to 1024, found 1025 times 1}}
module attributes {mtc.config = #config} {
  func.func @microbatch() { return }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 2]>, mtc.config = #config} {
  // expected-error @+1 {{expected one mesh axis that splits it, found several}}
  func.func @microbatch(%w: tensor<4x4xf32> {dist.sharding = #dist.sharding<[{"dp"}, {"tp"}]>, tfm.param = #tfm.param<name = "w", axes = ["embed", "ffn"], init = normal, std = 0.02, decay = true>, tfm.uses = 0 : i64}) {
    return
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 2]>, mtc.config = #config} {
  // expected-error @+1 {{expected one mesh axis that splits it, found several}}
  func.func @microbatch(%w: tensor<4xf32> {dist.sharding = #dist.sharding<[{"dp", "tp"}]>, tfm.param = #tfm.param<name = "w", axes = ["ffn"], init = normal, std = 0.02, decay = true>, tfm.uses = 0 : i64}) {
    return
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 2>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [9223372036854775807, 9223372036854775807]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
// expected-error @+1 {{expected layers_per_stage with 2 entries of 0 or more that add to 2, found 9223372036854775807, 9223372036854775807}}
module attributes {mtc.config = #config} {
  func.func @microbatch() { return }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4xf32> {tfm.input = #tfm.input<name = "ids", axes = ["batch"]>}) -> (tensor<4xf32> {tfm.grad = #tfm.grad<param = "w", use = 0>}) {
    // expected-error @+1 {{expected results that ops make, found result 0 to be an argument, saved or restored}}
    return %x : tensor<4xf32>
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 2>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1, 1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4xf32> {tfm.input = #tfm.input<name = "ids", axes = ["batch"]>}) {
    %a = tfm.exp %x {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %s = tfm.save %a {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4xf32>
    // expected-error @+1 {{expected a value that the forward of virtual stage 1 saves or receives, found another}}
    %r = tfm.restore %s {tfm.layer = 2 : i64, tfm.phase = "backward"} : tensor<4xf32>
    return
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 2>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1, 1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4xf32> {tfm.input = #tfm.input<name = "ids", axes = ["batch"]>}) {
    %a = tfm.exp %x {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<4xf32>
    // expected-error @+1 {{expected values of later virtual stages than 1 or of this one, found one of virtual stage 0}}
    %b = tfm.exp %a {tfm.layer = 2 : i64, tfm.phase = "backward"} : tensor<4xf32>
    return
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4xf32> {tfm.input = #tfm.input<name = "ids", axes = ["batch"]>}) {
    %a = tfm.exp %x {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<4xf32>
    %s = tfm.save %a {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<4xf32>
    // expected-error @+1 {{expected only tfm.restore to read what tfm.save makes, found another op}}
    %b = tfm.exp %s {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<4xf32>
    return
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 2>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1, 1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch() {
    %a = arith.constant {tfm.layer = 1 : i64, tfm.phase = "forward"} 1.0 : f32
    // expected-error @+1 {{expected tensors of static shape to cross virtual stages, found 'f32'}}
    %b = arith.negf %a {tfm.layer = 2 : i64, tfm.phase = "forward"} : f32
    return
  }
}
// -----
#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 2>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1, 1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4xf32> {tfm.input = #tfm.input<name = "ids", axes = ["batch"]>}) {
    %a = tfm.exp %x {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %b = tfm.exp %a {tfm.layer = 2 : i64, tfm.phase = "forward"} : tensor<4xf32>
    return
  }
  // expected-error @+1 {{expected stages to send each other the values of @microbatch, found others}}
  func.func @microbatch_recompute(%x: tensor<4xf32> {tfm.input = #tfm.input<name = "ids", axes = ["batch"]>}) {
    %a = tfm.exp %x {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %b = tfm.exp %x {tfm.layer = 2 : i64, tfm.phase = "forward"} : tensor<4xf32>
    return
  }
}
