// The fragments of two stages, sound: verify-fragments.mlir plants faults in them.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  pipe.crossing activation of "train" from 0 to 1 : tensor<2x8xf32>
  pipe.crossing gradient of "train" from 1 to 0 : tensor<2x8xf32>
  pipe.parameter <name = "up", axes = ["embed", "ffn"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{}, {"tp"}]> local tensor<8x4xf32>
  pipe.parameter <name = "down", axes = ["ffn", "embed"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{"tp"}, {}]> local tensor<4x8xf32>
  rt.program @rows stage 0 {
    rt.param "down" use 0 bucket 0 start 0 partial <dp>
    rt.param "up" use 0 bucket 0 start 32 partial <dp>
  }
  func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
    %x = pipe.input "loss_weights" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    %up = pipe.param "up" {dist.global_shapes = [array<i64: 8, 16>], dist.shardings = [#dist.sharding<[{}, {"tp"}]>]} : tensor<8x4xf32>
    %down = pipe.param "down" {dist.global_shapes = [array<i64: 16, 8>], dist.shardings = [#dist.sharding<[{"tp"}, {}]>]} : tensor<4x8xf32>
    %u = tfm.einsum "be,ef->bf" %x, %up {dist.global_shapes = [array<i64: 4, 16>], dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
    pipe.save %u as 0 : tensor<2x4xf32>
    %y = tfm.einsum "bf,fe->be" %u, %down {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}], partial = {"tp"}>]} : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    %r = dist.all_reduce sum %y over "tp" origin g serves "down" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    pipe.send activation %r : tensor<2x8xf32>
    return
  }
  func.func @stage1_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = forward>} {
    %x = pipe.received activation {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    %l = tfm.reduce sum %x dims [0, 1] {dist.global_shapes = [array<i64>], dist.shardings = [#dist.sharding<[], partial = {"dp"}>]} : tensor<2x8xf32> -> tensor<f32>
    pipe.loss %l : tensor<f32>
    return
  }
  func.func @stage1_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = backward>} {
    %x = pipe.received activation {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    %g = tfm.exp %x {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    pipe.send gradient %g : tensor<2x8xf32>
    return
  }
  func.func @stage0_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
    %u = pipe.saved 0 {dist.global_shapes = [array<i64: 4, 16>], dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<2x4xf32>
    %dy = pipe.received gradient {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    %dw = tfm.einsum "bf,be->fe" %u, %dy {dist.global_shapes = [array<i64: 16, 8>], dist.shardings = [#dist.sharding<[{"tp"}, {}], partial = {"dp"}>]} : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    pipe.accumulate %dw to "down" use 0 : tensor<4x8xf32>
    %dup = tfm.einsum "be,bf->ef" %dy, %u {dist.global_shapes = [array<i64: 8, 16>], dist.shardings = [#dist.sharding<[{}, {"tp"}], partial = {"dp"}>]} : tensor<2x8xf32>, tensor<2x4xf32> -> tensor<8x4xf32>
    pipe.accumulate %dup to "up" use 0 : tensor<8x4xf32>
    return
  }
}
