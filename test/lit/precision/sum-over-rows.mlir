// RUN: mtc-opt %s -form-clusters -outline-kernels -lower-calls -verify-diagnostics
// Tests that a sum over rows is not made in bf16.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = bf16, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v4", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xbf16>
      %y = tfm.scale %x by 2.0 {tfm.layer = 1 : i64} : tensor<4x8xbf16>
      // expected-error @+1 {{expected a sum over rows in f32, found 'tensor<8xbf16>'; it would be rounded once per row}}
      %s = tfm.reduce sum %y dims [0] {tfm.layer = 1 : i64} : tensor<4x8xbf16> -> tensor<8xbf16>
      pipe.send activation %s : tensor<8xbf16>
      return
    }
  } {}
}
