// RUN: mtc-opt %s -split-input-file -outline-kernels -lower-calls -verify-diagnostics
// Tests that an edited cluster which is not one loop nest is rejected, with the
// fragment, the op that does not fit and the rule; and so is an op of a kernel outside
// of all clusters.

// A contraction.
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 2, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %w = pipe.param "w" : tensor<8x16xf32>
      %y = rt.cluster -> (tensor<4x16xf32>) {
        // expected-error @below {{'tfm.einsum' op in a cluster of @stage0_fwd: expected arithmetic on elements in a kernel, found none: a contraction is a GEMM}}
        %u = tfm.einsum "be,ef->bf" %x, %w {tfm.layer = 1 : i64} : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
        %v = tfm.exp %u {tfm.layer = 1 : i64} : tensor<4x16xf32>
        rt.yield %v : tensor<4x16xf32>
      }
      pipe.send activation %y : tensor<4x16xf32>
      return
    }
  }
}

// -----

// Two layers: other stages would have other kernels.
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 2, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %y = rt.cluster -> (tensor<4x8xf32>) {
        %u = tfm.exp %x {tfm.layer = 1 : i64} : tensor<4x8xf32>
        // expected-error @below {{'tfm.exp' op in a cluster of @stage0_fwd: expected ops of one layer in a kernel (tfm.layer), so that it is the same however the layers are split, found layer 2}}
        %v = tfm.exp %u {tfm.layer = 2 : i64} : tensor<4x8xf32>
        rt.yield %v : tensor<4x8xf32>
      }
      pipe.send activation %y : tensor<4x8xf32>
      return
    }
  }
}

// -----

// A sum over rows is complete after the last of them.
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 2, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %y = rt.cluster -> (tensor<8xf32>) {
        %u = tfm.reduce sum %x dims [0] {tfm.layer = 1 : i64} : tensor<4x8xf32> -> tensor<8xf32>
        // expected-error @below {{'tfm.exp' op in a cluster of @stage0_fwd: expected values that are complete in each row of a kernel, found a sum over its rows; read it in another}}
        %v = tfm.exp %u {tfm.layer = 1 : i64} : tensor<8xf32>
        rt.yield %v : tensor<8xf32>
      }
      pipe.send activation %y : tensor<8xf32>
      return
    }
  }
}

// -----

// Two iteration domains.
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 2, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %z = pipe.received gradient : tensor<5x8xf32>
      %y, %w = rt.cluster -> (tensor<4x8xf32>, tensor<5x8xf32>) {
        %u = tfm.exp %x {tfm.layer = 1 : i64} : tensor<4x8xf32>
        // expected-error @below {{'tfm.exp' op in a cluster of @stage0_fwd: expected dimensions that fit one loop nest over rows and columns, together with the ops before, found others}}
        %v = tfm.exp %z {tfm.layer = 1 : i64} : tensor<5x8xf32>
        rt.yield %u, %v : tensor<4x8xf32>, tensor<5x8xf32>
      }
      pipe.send activation %y : tensor<4x8xf32>
      pipe.send gradient %w : tensor<5x8xf32>
      return
    }
  }
}

// -----

// A scalar that somebody else reads.
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 2, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %l = pipe.received activation : tensor<f32>
      %y, %w = rt.cluster -> (tensor<f32>, tensor<4x8xf32>) {
        %u = tfm.exp %l {tfm.layer = 1 : i64} : tensor<f32>
        // expected-error @below {{'tfm.broadcast' op in a cluster of @stage0_fwd: expected no new dimensions in a kernel whose scalars are read elsewhere: each row would make them again}}
        %v = tfm.broadcast %u dims [] {tfm.layer = 1 : i64} : tensor<f32> -> tensor<4x8xf32>
        rt.yield %u, %v : tensor<f32>, tensor<4x8xf32>
      }
      pipe.send activation %y : tensor<f32>
      pipe.send gradient %w : tensor<4x8xf32>
      return
    }
  }
}

// -----

// A sum of all elements beside rows.
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 2, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x16x16xf32>
      %v, %s = rt.cluster -> (tensor<16xf32>, tensor<f32>) {
        %r = tfm.reduce sum %x dims [0, 1] {tfm.layer = 1 : i64} : tensor<4x16x16xf32> -> tensor<16xf32>
        // expected-error @below {{'tfm.reduce' op in a cluster of @stage0_fwd: expected a sum of all elements to be a kernel of its own, found it beside ops with rows}}
        %t = tfm.reduce sum %x dims [0, 1, 2] {tfm.layer = 1 : i64} : tensor<4x16x16xf32> -> tensor<f32>
        rt.yield %r, %t : tensor<16xf32>, tensor<f32>
      }
      pipe.send activation %v : tensor<16xf32>
      pipe.loss %s : tensor<f32>
      return
    }
  }
}

// -----

// Two values of different shapes for one accumulator.
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 2, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    rt.bucket 0 elements 16 unpadded 16 shard 16
    rt.param "b" use 0 bucket 0 start 0
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<16xf32>
      %z = pipe.received gradient : tensor<8xf32>
      rt.cluster {
        pipe.accumulate %x to "b" use 0 : tensor<16xf32>
      }
      rt.cluster {
        // expected-error @below {{expected a value of the accumulator's shape, 'memref<16xf32>', found 'tensor<8xf32>'}}
        pipe.accumulate %z to "b" use 0 : tensor<8xf32>
      }
      return
    }
  }
}

// -----

// A parameter of another program.
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 2, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<16xf32>
      rt.cluster {
        // expected-error @below {{expected a bucket for use 0 of the parameter "b", found none in this program}}
        pipe.accumulate %x to "b" use 0 : tensor<16xf32>
      }
      return
    }
  }
}

// -----

// Ops outside of all clusters.
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 2, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    rt.bucket 0 elements 32 unpadded 32 shard 32
    rt.param "b" use 0 bucket 0 start 0
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      // expected-error @below {{'tfm.exp' op expected ops of kernels in an rt.cluster before outline-kernels, found one outside of all}}
      %u = tfm.exp %x {tfm.layer = 1 : i64} : tensor<4x8xf32>
      pipe.send activation %u : tensor<4x8xf32>
      // expected-error @below {{'pipe.accumulate' op expected ops of kernels in an rt.cluster before outline-kernels, found one outside of all}}
      pipe.accumulate %x to "b" use 0 : tensor<4x8xf32>
      return
    }
  }
}

// -----

// Letters that are no matrix.
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 2, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8x2xf32>
      %w = pipe.param "w" : tensor<8x16xf32>
      // expected-error @below {{expected letters in contiguous groups (rows, columns, contracted), found "bec,ef->bcf"}}
      %u = tfm.einsum "bec,ef->bcf" %x, %w {tfm.layer = 1 : i64} : tensor<4x8x2xf32>, tensor<8x16xf32> -> tensor<4x2x16xf32>
      pipe.send activation %u : tensor<4x2x16xf32>
      return
    }
  }
}
