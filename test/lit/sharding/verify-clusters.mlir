// RUN: mtc-opt %s --verify-fragments -split-input-file -verify-diagnostics
// Tests that verify-fragments sees the ops of clusters, and what clusters yield: the
// first is sound, in the second a product is read before it was summed, in the third
// what a cluster yields is saved as a part and read as the whole.

module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
    %x = pipe.input "loss_weights" {dist.global_shapes = [array<i64: 4, 16>], dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<2x4xf32>
    %y = rt.cluster -> (tensor<2x4xf32>) {
      %e = tfm.exp %x {dist.global_shapes = [array<i64: 4, 16>], dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<2x4xf32>
      rt.yield %e : tensor<2x4xf32>
    }
    pipe.save %y as 0 : tensor<2x4xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  // expected-error @below {{expected gradients of uses 0 to 0, found none}}
  pipe.parameter <name = "w", axes = ["embed", "embed"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{"tp"}, {}]> local tensor<4x8xf32>
  func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
    %x = pipe.input "loss_weights" {dist.global_shapes = [array<i64: 4, 16>], dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<2x4xf32>
    %w = pipe.param "w" {dist.global_shapes = [array<i64: 16, 8>], dist.shardings = [#dist.sharding<[{"tp"}, {}]>]} : tensor<4x8xf32>
    %u = tfm.einsum "bf,fe->be" %x, %w {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}], partial = {"tp"}>]} : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    %y = rt.cluster -> (tensor<2x8xf32>) {
      // expected-error @below {{expected operand 0 in full, or partial together with all that the op is linear in and nothing split, found a partial sum over "tp"}}
      %e = tfm.exp %u {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
      rt.yield %e : tensor<2x8xf32>
    }
    pipe.save %y as 0 : tensor<2x8xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
    %x = pipe.input "loss_weights" {dist.global_shapes = [array<i64: 4, 16>], dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<2x4xf32>
    %y = rt.cluster -> (tensor<2x4xf32>) {
      %e = tfm.exp %x {dist.global_shapes = [array<i64: 4, 16>], dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<2x4xf32>
      rt.yield %e : tensor<2x4xf32>
    }
    pipe.save %y as 0 : tensor<2x4xf32>
    return
  }
  func.func @stage0_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
    // expected-error @below {{expected saved activation 0 of stage 0 in one sharding in all fragments, found #dist.sharding<[{"dp"}, {"tp"}]> and #dist.sharding<[{"dp"}, {}]>}}
    %u = pipe.saved 0 {dist.global_shapes = [array<i64: 4, 4>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x4xf32>
    pipe.save %u as 1 : tensor<2x4xf32>
    return
  }
}
