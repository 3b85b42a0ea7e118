// Faults planted in the fragments of two stages, one each; the first is sound.
// RUN: mtc-opt %s --verify-fragments -split-input-file -verify-diagnostics

module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  pipe.crossing activation of "train" from 0 to 1 : tensor<2x8xf32>
  pipe.crossing gradient of "train" from 1 to 0 : tensor<2x8xf32>
  pipe.parameter <name = "up", axes = ["embed", "ffn"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{}, {"tp"}]> local tensor<8x4xf32>
  pipe.parameter <name = "down", axes = ["ffn", "embed"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{"tp"}, {}]> local tensor<4x8xf32>
  func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
    %x = pipe.input "x" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
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

// -----

// An all-reduce that got lost before a send.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  pipe.crossing activation of "train" from 0 to 1 : tensor<2x8xf32>
  pipe.crossing gradient of "train" from 1 to 0 : tensor<2x8xf32>
  pipe.parameter <name = "up", axes = ["embed", "ffn"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{}, {"tp"}]> local tensor<8x4xf32>
  pipe.parameter <name = "down", axes = ["ffn", "embed"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{"tp"}, {}]> local tensor<4x8xf32>
  func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
    %x = pipe.input "x" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    %up = pipe.param "up" {dist.global_shapes = [array<i64: 8, 16>], dist.shardings = [#dist.sharding<[{}, {"tp"}]>]} : tensor<8x4xf32>
    %down = pipe.param "down" {dist.global_shapes = [array<i64: 16, 8>], dist.shardings = [#dist.sharding<[{"tp"}, {}]>]} : tensor<4x8xf32>
    %u = tfm.einsum "be,ef->bf" %x, %up {dist.global_shapes = [array<i64: 4, 16>], dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
    pipe.save %u as 0 : tensor<2x4xf32>
    %y = tfm.einsum "bf,fe->be" %u, %down {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}], partial = {"tp"}>]} : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    pipe.send activation %y : tensor<2x8xf32>
    return
  }
  func.func @stage1_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = forward>} {
    // expected-error @below {{expected activation of "train" from virtual stage 0 to 1 in one sharding in all fragments, found #dist.sharding<[{"dp"}, {}], partial = {"tp"}> and #dist.sharding<[{"dp"}, {}]>}}
    %x = pipe.received activation {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    %l = tfm.reduce sum %x dims [0, 1] {dist.global_shapes = [array<i64>], dist.shardings = [#dist.sharding<[], partial = {"dp"}>]} : tensor<2x8xf32> -> tensor<f32>
    pipe.loss %l : tensor<f32>
    return
  }
  func.func @stage1_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = backward>} {
    // expected-error @below {{expected activation of "train" from virtual stage 0 to 1 in one sharding}}
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

// -----

// A doubled one.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  pipe.crossing activation of "train" from 0 to 1 : tensor<2x8xf32>
  pipe.crossing gradient of "train" from 1 to 0 : tensor<2x8xf32>
  pipe.parameter <name = "up", axes = ["embed", "ffn"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{}, {"tp"}]> local tensor<8x4xf32>
  pipe.parameter <name = "down", axes = ["ffn", "embed"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{"tp"}, {}]> local tensor<4x8xf32>
  func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
    %x = pipe.input "x" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    %up = pipe.param "up" {dist.global_shapes = [array<i64: 8, 16>], dist.shardings = [#dist.sharding<[{}, {"tp"}]>]} : tensor<8x4xf32>
    %down = pipe.param "down" {dist.global_shapes = [array<i64: 16, 8>], dist.shardings = [#dist.sharding<[{"tp"}, {}]>]} : tensor<4x8xf32>
    %u = tfm.einsum "be,ef->bf" %x, %up {dist.global_shapes = [array<i64: 4, 16>], dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
    pipe.save %u as 0 : tensor<2x4xf32>
    %y = tfm.einsum "bf,fe->be" %u, %down {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}], partial = {"tp"}>]} : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    %r = dist.all_reduce sum %y over "tp" origin g serves "down" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    // expected-error @below {{expected an operand that is a partial sum over "tp", found one that is replicated}}
    %r2 = dist.all_reduce sum %r over "tp" origin g serves "down" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    pipe.send activation %r2 : tensor<2x8xf32>
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

// -----

// One of another kind.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  pipe.crossing activation of "train" from 0 to 1 : tensor<2x8xf32>
  pipe.crossing gradient of "train" from 1 to 0 : tensor<2x8xf32>
  pipe.parameter <name = "up", axes = ["embed", "ffn"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{}, {"tp"}]> local tensor<8x4xf32>
  pipe.parameter <name = "down", axes = ["ffn", "embed"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{"tp"}, {}]> local tensor<4x8xf32>
  func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
    %x = pipe.input "x" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    %up = pipe.param "up" {dist.global_shapes = [array<i64: 8, 16>], dist.shardings = [#dist.sharding<[{}, {"tp"}]>]} : tensor<8x4xf32>
    %down = pipe.param "down" {dist.global_shapes = [array<i64: 16, 8>], dist.shardings = [#dist.sharding<[{"tp"}, {}]>]} : tensor<4x8xf32>
    %u = tfm.einsum "be,ef->bf" %x, %up {dist.global_shapes = [array<i64: 4, 16>], dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
    pipe.save %u as 0 : tensor<2x4xf32>
    %y = tfm.einsum "bf,fe->be" %u, %down {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}], partial = {"tp"}>]} : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    // expected-error @below {{expected an operand that is a partial maximum over "tp", found one that is a partial sum}}
    %r = dist.all_reduce max %y over "tp" origin g serves "down" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
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

// -----

// A saved part that is read as the whole.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  pipe.crossing activation of "train" from 0 to 1 : tensor<2x8xf32>
  pipe.crossing gradient of "train" from 1 to 0 : tensor<2x8xf32>
  pipe.parameter <name = "up", axes = ["embed", "ffn"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{}, {"tp"}]> local tensor<8x4xf32>
  pipe.parameter <name = "down", axes = ["ffn", "embed"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{"tp"}, {}]> local tensor<4x8xf32>
  func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
    %x = pipe.input "x" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
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
    // expected-error @below {{expected saved activation 0 of stage 0 in one sharding in all fragments, found #dist.sharding<[{"dp"}, {"tp"}]> and #dist.sharding<[{"dp"}, {}]>}}
    %u = pipe.saved 0 {dist.global_shapes = [array<i64: 4, 4>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x4xf32>
    %dy = pipe.received gradient {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    // expected-error @below {{expected operand 0}}
    %dw = tfm.einsum "bf,be->fe" %u, %dy {dist.global_shapes = [array<i64: 16, 8>], dist.shardings = [#dist.sharding<[{"tp"}, {}], partial = {"dp"}>]} : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    pipe.accumulate %dw to "down" use 0 : tensor<4x8xf32>
    // expected-error @below {{expected operand 1}}
    %dup = tfm.einsum "be,bf->ef" %dy, %u {dist.global_shapes = [array<i64: 8, 16>], dist.shardings = [#dist.sharding<[{}, {"tp"}], partial = {"dp"}>]} : tensor<2x8xf32>, tensor<2x4xf32> -> tensor<8x4xf32>
    pipe.accumulate %dup to "up" use 0 : tensor<8x4xf32>
    return
  }
}

// -----

// A saved value of another size.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  pipe.crossing activation of "train" from 0 to 1 : tensor<2x8xf32>
  pipe.crossing gradient of "train" from 1 to 0 : tensor<2x8xf32>
  // expected-error @below {{expected gradients of use 0, found none}}
  pipe.parameter <name = "up", axes = ["embed", "ffn"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{}, {"tp"}]> local tensor<8x4xf32>
  // expected-error @below {{expected gradients of use 0, found none}}
  pipe.parameter <name = "down", axes = ["ffn", "embed"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{"tp"}, {}]> local tensor<4x8xf32>
  func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
    %x = pipe.input "x" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
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
    // expected-error @below {{expected saved activation 0 of stage 0 of one global shape in all fragments, found array<i64: 4, 16> and array<i64: 4, 32>}}
    %u = pipe.saved 0 {dist.global_shapes = [array<i64: 4, 32>], dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<2x8xf32>
    %dy = pipe.received gradient {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    return
  }
}

// -----

// A gradient that is summed twice: here and by the update.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  pipe.crossing activation of "train" from 0 to 1 : tensor<2x8xf32>
  pipe.crossing gradient of "train" from 1 to 0 : tensor<2x8xf32>
  pipe.parameter <name = "up", axes = ["embed", "ffn"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{}, {"tp"}]> local tensor<8x4xf32>
  pipe.parameter <name = "down", axes = ["ffn", "embed"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{"tp"}, {}]> local tensor<4x8xf32>
  func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
    %x = pipe.input "x" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
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
    %sum = dist.all_reduce sum %dw over "dp" origin gradient serves "down" {dist.global_shapes = [array<i64: 16, 8>], dist.shardings = [#dist.sharding<[{"tp"}, {}]>]} : tensor<4x8xf32>
    // expected-error @below {{expected the gradient of "down" to be a partial sum over "dp", which the update sums over, found replicated}}
    pipe.accumulate %sum to "down" use 0 : tensor<4x8xf32>
    %dup = tfm.einsum "be,bf->ef" %dy, %u {dist.global_shapes = [array<i64: 8, 16>], dist.shardings = [#dist.sharding<[{}, {"tp"}], partial = {"dp"}>]} : tensor<2x8xf32>, tensor<2x4xf32> -> tensor<8x4xf32>
    pipe.accumulate %dup to "up" use 0 : tensor<8x4xf32>
    return
  }
}

// -----

// A gradient in another state than its parameter.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  pipe.crossing activation of "train" from 0 to 1 : tensor<2x8xf32>
  pipe.crossing gradient of "train" from 1 to 0 : tensor<2x8xf32>
  pipe.parameter <name = "up", axes = ["embed", "ffn"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{}, {"tp"}]> local tensor<8x4xf32>
  // expected-error @below {{expected gradients of use 0, found none}}
  pipe.parameter <name = "down", axes = ["ffn", "embed"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{"tp"}, {}]> local tensor<4x8xf32>
  func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
    %x = pipe.input "x" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
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
    // expected-error @below {{expected the gradient of "up" to be split on dimension 1 over "tp", found split on dimension 0}}
    pipe.accumulate %dw to "up" use 0 : tensor<4x8xf32>
    return
  }
}

// -----

// A gradient of no parameter.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  pipe.crossing activation of "train" from 0 to 1 : tensor<2x8xf32>
  pipe.crossing gradient of "train" from 1 to 0 : tensor<2x8xf32>
  pipe.parameter <name = "up", axes = ["embed", "ffn"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{}, {"tp"}]> local tensor<8x4xf32>
  // expected-error @below {{expected gradients of use 0, found none}}
  pipe.parameter <name = "down", axes = ["ffn", "embed"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{"tp"}, {}]> local tensor<4x8xf32>
  func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
    %x = pipe.input "x" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
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
    // expected-error @below {{expected a pipe.parameter of the name "w", found none}}
    pipe.accumulate %dw to "w" use 0 : tensor<4x8xf32>
    %dup = tfm.einsum "be,bf->ef" %dy, %u {dist.global_shapes = [array<i64: 8, 16>], dist.shardings = [#dist.sharding<[{}, {"tp"}], partial = {"dp"}>]} : tensor<2x8xf32>, tensor<2x4xf32> -> tensor<8x4xf32>
    pipe.accumulate %dup to "up" use 0 : tensor<8x4xf32>
    return
  }
}

// -----

// A loss that is summed twice.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  pipe.crossing activation of "train" from 0 to 1 : tensor<2x8xf32>
  pipe.crossing gradient of "train" from 1 to 0 : tensor<2x8xf32>
  pipe.parameter <name = "up", axes = ["embed", "ffn"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{}, {"tp"}]> local tensor<8x4xf32>
  pipe.parameter <name = "down", axes = ["ffn", "embed"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{"tp"}, {}]> local tensor<4x8xf32>
  func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
    %x = pipe.input "x" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
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
    %s = dist.all_reduce sum %l over "dp" origin loss serves "x" {dist.global_shapes = [array<i64>], dist.shardings = [#dist.sharding<[]>]} : tensor<f32>
    // expected-error @below {{expected the loss to be a partial sum over "dp", which the update sums over, found replicated}}
    pipe.loss %s : tensor<f32>
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

// -----

// A parameter of which nothing is known.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  pipe.crossing activation of "train" from 0 to 1 : tensor<2x8xf32>
  pipe.crossing gradient of "train" from 1 to 0 : tensor<2x8xf32>
  pipe.parameter <name = "up", axes = ["embed", "ffn"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{}, {"tp"}]> local tensor<8x4xf32>
  pipe.parameter <name = "down", axes = ["ffn", "embed"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{"tp"}, {}]> local tensor<4x8xf32>
  func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
    %x = pipe.input "x" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    // expected-error @below {{expected the parameter "up" as its pipe.parameter says, 'tensor<8x4xf32>' in #dist.sharding<[{}, {"tp"}]>, found 'tensor<8x4xf32>' in}}
    %up = pipe.param "up"  : tensor<8x4xf32>
    %down = pipe.param "down" {dist.global_shapes = [array<i64: 16, 8>], dist.shardings = [#dist.sharding<[{"tp"}, {}]>]} : tensor<4x8xf32>
    // expected-error @below {{expected operand 1 to be split on dimension 1, found replicated over "tp"}}
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

// -----

// A part that is no part.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  pipe.crossing activation of "train" from 0 to 1 : tensor<2x8xf32>
  pipe.crossing gradient of "train" from 1 to 0 : tensor<2x8xf32>
  pipe.parameter <name = "up", axes = ["embed", "ffn"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{}, {"tp"}]> local tensor<8x4xf32>
  pipe.parameter <name = "down", axes = ["ffn", "embed"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{"tp"}, {}]> local tensor<4x8xf32>
  func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
    %x = pipe.input "x" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    // expected-error @below {{expected 'tensor<8x4xf32>' to be a part of global shape [8, 8] under #dist.sharding<[{}, {"tp"}]>, found a part of [8, 16]}}
    %up = pipe.param "up" {dist.global_shapes = [array<i64: 8, 8>], dist.shardings = [#dist.sharding<[{}, {"tp"}]>]} : tensor<8x4xf32>
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

// -----

// An export that does not say how it lies.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  pipe.crossing activation of "train" from 0 to 1 : tensor<2x8xf32>
  pipe.crossing gradient of "train" from 1 to 0 : tensor<2x8xf32>
  pipe.parameter <name = "up", axes = ["embed", "ffn"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{}, {"tp"}]> local tensor<8x4xf32>
  pipe.parameter <name = "down", axes = ["ffn", "embed"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{"tp"}, {}]> local tensor<4x8xf32>
  func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
    %x = pipe.input "x" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
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
    // expected-error @below {{expected a value in full in the sharding that dist.sharding says, found #dist.sharding<[{"dp"}, {}]>}}
    pipe.export "logits" %x : tensor<2x8xf32>
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

// -----

// A gradient of which nothing is known.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  pipe.crossing activation of "train" from 0 to 1 : tensor<2x8xf32>
  pipe.crossing gradient of "train" from 1 to 0 : tensor<2x8xf32>
  pipe.parameter <name = "up", axes = ["embed", "ffn"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{}, {"tp"}]> local tensor<8x4xf32>
  pipe.parameter <name = "down", axes = ["ffn", "embed"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{"tp"}, {}]> local tensor<4x8xf32>
  func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
    %x = pipe.input "x" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
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
    // expected-error @below {{expected the sharding and the global shape of gradient of "train" from virtual stage 1 to 0 (dist.shardings, dist.global_shapes)}}
    %dy = pipe.received gradient : tensor<2x8xf32>
    %dw = tfm.einsum "bf,be->fe" %u, %dy {dist.global_shapes = [array<i64: 16, 8>], dist.shardings = [#dist.sharding<[{"tp"}, {}], partial = {"dp"}>]} : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
    pipe.accumulate %dw to "down" use 0 : tensor<4x8xf32>
    %dup = tfm.einsum "be,bf->ef" %dy, %u {dist.global_shapes = [array<i64: 8, 16>], dist.shardings = [#dist.sharding<[{}, {"tp"}], partial = {"dp"}>]} : tensor<2x8xf32>, tensor<2x4xf32> -> tensor<8x4xf32>
    pipe.accumulate %dup to "up" use 0 : tensor<8x4xf32>
    return
  }
}

// -----

// A value of which nothing says where it comes from.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  func.func @stage1_eval() attributes {pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = eval>} {
    // expected-error @below {{expected a pipe.crossing of "eval" that names it, found none}}
    %x = pipe.received activation.1 {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    return
  }
}

// -----

// No mesh.
// expected-error @below {{expected the mesh as module attribute dist.mesh}}
module {
}

// -----

// A tied parameter, the gradient of whose first use got lost.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  pipe.crossing activation of "train" from 0 to 1 : tensor<2x8xf32>
  pipe.crossing gradient of "train" from 1 to 0 : tensor<2x8xf32>
  pipe.parameter <name = "up", axes = ["embed", "ffn"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{}, {"tp"}]> local tensor<8x4xf32>
  // expected-error @below {{expected gradients of uses 0 to 1, found those of uses 1}}
  pipe.parameter <name = "down", axes = ["ffn", "embed"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{"tp"}, {}]> uses 2 local tensor<4x8xf32>
  func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
    %x = pipe.input "x" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
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
    pipe.accumulate %dw to "down" use 1 : tensor<4x8xf32>
    %dup = tfm.einsum "be,bf->ef" %dy, %u {dist.global_shapes = [array<i64: 8, 16>], dist.shardings = [#dist.sharding<[{}, {"tp"}], partial = {"dp"}>]} : tensor<2x8xf32>, tensor<2x4xf32> -> tensor<8x4xf32>
    pipe.accumulate %dup to "up" use 0 : tensor<8x4xf32>
    return
  }
}

// -----

// A use that is not one of the parameter.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  pipe.crossing activation of "train" from 0 to 1 : tensor<2x8xf32>
  pipe.crossing gradient of "train" from 1 to 0 : tensor<2x8xf32>
  pipe.parameter <name = "up", axes = ["embed", "ffn"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{}, {"tp"}]> local tensor<8x4xf32>
  // expected-error @below {{expected gradients of uses 0 to 1, found those of uses 0, 2}}
  pipe.parameter <name = "down", axes = ["ffn", "embed"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{"tp"}, {}]> uses 2 local tensor<4x8xf32>
  func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
    %x = pipe.input "x" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
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
    pipe.accumulate %dw to "down" use 2 : tensor<4x8xf32>
    %dup = tfm.einsum "be,bf->ef" %dy, %u {dist.global_shapes = [array<i64: 8, 16>], dist.shardings = [#dist.sharding<[{}, {"tp"}], partial = {"dp"}>]} : tensor<2x8xf32>, tensor<2x4xf32> -> tensor<8x4xf32>
    pipe.accumulate %dup to "up" use 0 : tensor<8x4xf32>
    return
  }
}

// -----

// A gradient that is added twice.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  pipe.crossing activation of "train" from 0 to 1 : tensor<2x8xf32>
  pipe.crossing gradient of "train" from 1 to 0 : tensor<2x8xf32>
  pipe.parameter <name = "up", axes = ["embed", "ffn"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{}, {"tp"}]> local tensor<8x4xf32>
  pipe.parameter <name = "down", axes = ["ffn", "embed"], init = zeros, std = 0.0 : f64, decay = true> sharding <[{"tp"}, {}]> local tensor<4x8xf32>
  func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
    %x = pipe.input "x" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
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
    // expected-error @below {{expected one gradient of use 0 of "down", found another of the same use}}
    pipe.accumulate %dw to "down" use 0 : tensor<4x8xf32>
    %dup = tfm.einsum "be,bf->ef" %dy, %u {dist.global_shapes = [array<i64: 8, 16>], dist.shardings = [#dist.sharding<[{}, {"tp"}], partial = {"dp"}>]} : tensor<2x8xf32>, tensor<2x4xf32> -> tensor<8x4xf32>
    pipe.accumulate %dup to "up" use 0 : tensor<8x4xf32>
    return
  }
}
