// RUN: mtc-opt %s -split-input-file --plan-memory -verify-diagnostics
// What plan-memory finds no place for, in fragments that people wrote.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    rt.bucket 0 elements 64 unpadded 64 shard 64 {states = ["exp_avg"]}
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      // expected-error @+1 {{expected a part that bucket 0 has, found state exp_avg_sq}}
      %m = rt.ref state "exp_avg_sq" of 0 : memref<64xf32>
      return
    }
  }
}

// -----

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    rt.bucket 0 elements 64 unpadded 64 shard 64 {states = ["exp_avg"]}
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      // expected-error @+1 {{expected a parameter of this program}}
      %w = pipe.param "w" : tensor<8x8xf32>
      return
    }
  }
}

// -----

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    rt.bucket 0 elements 64 unpadded 64 shard 64 {states = ["exp_avg"]}
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      // expected-error @+1 {{expected a key that a forward fragment keeps, found 3}}
      %x = pipe.saved 3 : tensor<8x8xf32>
      return
    }
  }
}

// -----

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    rt.bucket 0 elements 64 unpadded 64 shard 64 {states = ["exp_avg"]}
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      // expected-error @+1 {{expected the ops that lower-calls leaves in a fragment, found another}}
      %one = arith.constant 1 : i64
      return
    }
  }
}

// -----

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    rt.bucket 0 elements 64 unpadded 64 shard 64 {states = ["exp_avg"]}
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<8x8xf32>
      // expected-error @+1 {{expected a value without an offset of its own, found one that is received, sent or saved: its slot changes with the microbatch}}
      pipe.export "x" %x : tensor<8x8xf32>
      return
    }
  }
}

// -----

// An empty tensor is no value.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    rt.bucket 0 elements 64 unpadded 64 shard 64 {states = ["exp_avg"]}
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %e = tensor.empty() : tensor<8x8xf32>
      // expected-error @+1 {{expected a value in operand 0, which is read, found an empty tensor, which holds none}}
      %y = rt.gemm %e, %e into %e m 8 n 8 k 8 by own {ta = false, tb = false, beta = false} : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      return
    }
  }
}

// -----

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    rt.bucket 0 elements 64 unpadded 64 shard 64 {states = ["exp_avg"]}
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %e = tensor.empty() : tensor<8x8xf32>
      %x = pipe.received activation : tensor<8x8xf32>
      // expected-error @+1 {{expected a value in operand 2, which is read, found an empty tensor, which holds none}}
      %y = rt.gemm %x, %x into %e m 8 n 8 k 8 by own {ta = false, tb = false, beta = true} : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      return
    }
  }
}

// -----

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    rt.bucket 0 elements 64 unpadded 64 shard 64 {states = ["exp_avg"]}
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %e = tensor.empty() : tensor<8x8xf32>
      // expected-error @+1 {{expected a value in operand 0, which is read, found an empty tensor, which holds none}}
      pipe.send activation %e : tensor<8x8xf32>
      return
    }
  }
}

// -----

// What is worked on in place is gone afterwards.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    rt.bucket 0 elements 64 unpadded 64 shard 64 {states = ["exp_avg"]}
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %e = tensor.empty() : tensor<8x8xf32>
      %x = rt.zero %e : (tensor<8x8xf32>) -> tensor<8x8xf32>
      // expected-error @+1 {{expected no reader of operand 0 behind it, because it works on it in place, found one}}
      %y = rt.collective all_reduce %x group tp count 64 : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %z = rt.gemm %x, %y into %e m 8 n 8 k 8 by own {ta = false, tb = false, beta = false} : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      return
    }
  }
}

// -----

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    rt.bucket 0 elements 64 unpadded 64 shard 64 {states = ["exp_avg"]}
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %e = tensor.empty() : tensor<8x8xf32>
      %x = rt.zero %e : (tensor<8x8xf32>) -> tensor<8x8xf32>
      // expected-error @+1 {{expected no reader of operand 2 behind it, because it works on it in place, found one}}
      %y = rt.gemm %x, %x into %x m 8 n 8 k 8 by own {ta = false, tb = false, beta = true} : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      pipe.send activation %x : tensor<8x8xf32>
      return
    }
  }
}
