// RUN: mtc-opt %s -split-input-file -form-clusters -verify-diagnostics
// Tests that an op that is neither a kernel nor a call is rejected, with the fragment
// and the reason.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8x2xf32>
      // expected-error @below {{'tfm.reduce' op in a cluster of its own in @stage0_fwd: expected dimensions that fit one loop nest}}
      %y = tfm.reduce sum %x dims [1] {tfm.layer = 1 : i64} : tensor<4x8x2xf32> -> tensor<4x2xf32>
      pipe.send activation %y : tensor<4x2xf32>
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
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      // expected-error @below {{'tfm.save' op in a cluster of its own in @stage0_fwd: expected arithmetic on elements in a kernel, found none: a place in the activation slot, not a computation}}
      %y = tfm.save %x {tfm.layer = 1 : i64} : tensor<4x8xf32>
      pipe.send activation %y : tensor<4x8xf32>
      return
    }
  }
}
