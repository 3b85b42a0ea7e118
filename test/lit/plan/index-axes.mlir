// RUN: mtc-opt %s -form-clusters -outline-kernels -lower-calls -verify-diagnostics
// Tests that an op that needs its rank's coordinate names an axis that splits tensors:
// nothing behind this pass would miss one that does not exist.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 2, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {dist.mesh = #dist.mesh<["cp" = 2]>, mtc.config = #config} {
  rt.program @stage0 stage 0 {
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %ids = pipe.received activation : tensor<4x8xi32>
      %t = pipe.received activation : tensor<16x4xf32>
      // expected-error @below {{expected dist.index_axis to be tp, cp or dp, found "xx"}}
      %e = tfm.embed %ids, %t {tfm.layer = 0 : i64, dist.index_axis = "xx", dist.index_dim = 0 : i64, dist.index_stride = 16 : i64} : tensor<4x8xi32>, tensor<16x4xf32> -> tensor<4x8x4xf32>
      // expected-error @below {{expected dist.index_axis to be tp, cp or dp, found "pp"}}
      %f = tfm.embed %ids, %t {tfm.layer = 0 : i64, dist.index_axis = "pp", dist.index_dim = 0 : i64, dist.index_stride = 16 : i64} : tensor<4x8xi32>, tensor<16x4xf32> -> tensor<4x8x4xf32>
      // expected-error @below {{expected dist.index_axis beside dist.index_stride, found none}}
      %g = tfm.embed %ids, %t {tfm.layer = 0 : i64, dist.index_stride = 16 : i64} : tensor<4x8xi32>, tensor<16x4xf32> -> tensor<4x8x4xf32>
      // expected-error @below {{expected dist.piece_axis, an axis of the mesh, and dist.piece, the indices of a piece (1 or more), or neither, found "xx" and 2 : i64}}
      %h = tfm.embed %ids, %t {tfm.layer = 0 : i64, dist.piece_axis = "xx", dist.piece = 2 : i64} : tensor<4x8xi32>, tensor<16x4xf32> -> tensor<4x8x4xf32>
      // expected-error @below {{or neither, found "cp" and 0 : i64}}
      %i = tfm.embed %ids, %t {tfm.layer = 0 : i64, dist.piece_axis = "cp", dist.piece = 0 : i64} : tensor<4x8xi32>, tensor<16x4xf32> -> tensor<4x8x4xf32>
      return
    }
  }
}
