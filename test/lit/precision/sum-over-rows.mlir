// RUN: mtc-opt %s -form-clusters -outline-kernels -lower-calls -verify-diagnostics
// Tests that a sum over rows is not made in bf16.

module attributes {mtc.config = {micro_batch = 4 : i64, dp = 1 : i64, dtype = "bf16"}} {
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
