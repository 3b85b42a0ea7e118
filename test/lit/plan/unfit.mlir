// RUN: mtc-opt %s -split-input-file -form-clusters -verify-diagnostics
// Tests that an op that is neither a kernel nor a call is rejected, with the fragment
// and the reason.

module attributes {mtc.config = {micro_batch = 4 : i64, dp = 1 : i64}} {
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

module attributes {mtc.config = {micro_batch = 4 : i64, dp = 1 : i64}} {
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
