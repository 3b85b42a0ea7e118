// RUN: mtc-opt %s -form-clusters -outline-kernels -lower-calls -verify-diagnostics
// RUN: not mtc-opt %s -form-clusters -outline-kernels -lower-calls > %t 2>&1
// Tests that a dropout whose elements have an offset on a rank that nobody can tell is
// rejected, not compiled with local element numbers.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>, mtc.config = #config} {
  rt.program @stage0 stage 0 {
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %at = pipe.sample : tensor<i64>
      // expected-error @+1 {{expected beside dist.index_stride the mesh and a dist.index_dim from 1 to 1, found 2 : i64: elements have the numbers of the whole sample}}
      %d = tfm.dropout %x at %at {rate = 0.1 : f64, rng_layer = 1 : i64, site = 2 : i64, dist.index_axis = "tp", dist.index_dim = 2 : i64, dist.index_stride = 8 : i64, tfm.layer = 1 : i64} : tensor<4x8xf32>, tensor<i64> -> tensor<4x8xf32>
      pipe.send activation %d : tensor<4x8xf32>
      return
    }
  }
}
