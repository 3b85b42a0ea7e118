// Faults planted in a partitioned product pair, one each; the first is sound.
// RUN: mtc-opt %s --verify-partitioned -split-input-file -verify-diagnostics

module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  func.func @microbatch(
      %x: tensor<2x8xf32> {dist.global_shape = array<i64: 4, 8>, dist.sharding = #dist.sharding<[{"dp"}, {}]>, tfm.input = #tfm.input<name = "x", axes = ["batch", "embed"]>},
      %up: tensor<8x4xf32> {dist.global_shape = array<i64: 8, 16>, dist.sharding = #dist.sharding<[{}, {"tp"}]>},
      %down: tensor<4x8xf32> {dist.global_shape = array<i64: 16, 8>, dist.sharding = #dist.sharding<[{"tp"}, {}]>}) -> tensor<2x8xf32> {
    %u = tfm.einsum "be,ef->bf" %x, %up {dist.global_shapes = [array<i64: 4, 16>], dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
    %y = tfm.einsum "bf,fe->be" %u, %down {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}], partial = {"tp"}>]} : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    %r = dist.all_reduce sum %y over "tp" origin g serves "down" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    %n = tfm.activation gelu %r {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    return %n : tensor<2x8xf32>
  }
}

// -----

// A dropped all-reduce.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  func.func @microbatch(
      %x: tensor<2x8xf32> {dist.global_shape = array<i64: 4, 8>, dist.sharding = #dist.sharding<[{"dp"}, {}]>, tfm.input = #tfm.input<name = "x", axes = ["batch", "embed"]>},
      %up: tensor<8x4xf32> {dist.global_shape = array<i64: 8, 16>, dist.sharding = #dist.sharding<[{}, {"tp"}]>},
      %down: tensor<4x8xf32> {dist.global_shape = array<i64: 16, 8>, dist.sharding = #dist.sharding<[{"tp"}, {}]>}) -> tensor<2x8xf32> {
    %u = tfm.einsum "be,ef->bf" %x, %up {dist.global_shapes = [array<i64: 4, 16>], dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
    %y = tfm.einsum "bf,fe->be" %u, %down {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}], partial = {"tp"}>]} : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    // expected-error @below {{expected operand 0 in full, or partial together with all that the op is linear in and nothing split, found a partial sum over "tp"}}
    %n = tfm.activation gelu %y {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    return %n : tensor<2x8xf32>
  }
}

// -----

// A duplicated one.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  func.func @microbatch(
      %x: tensor<2x8xf32> {dist.global_shape = array<i64: 4, 8>, dist.sharding = #dist.sharding<[{"dp"}, {}]>, tfm.input = #tfm.input<name = "x", axes = ["batch", "embed"]>},
      %up: tensor<8x4xf32> {dist.global_shape = array<i64: 8, 16>, dist.sharding = #dist.sharding<[{}, {"tp"}]>},
      %down: tensor<4x8xf32> {dist.global_shape = array<i64: 16, 8>, dist.sharding = #dist.sharding<[{"tp"}, {}]>}) -> tensor<2x8xf32> {
    %u = tfm.einsum "be,ef->bf" %x, %up {dist.global_shapes = [array<i64: 4, 16>], dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
    %y = tfm.einsum "bf,fe->be" %u, %down {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}], partial = {"tp"}>]} : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    %r = dist.all_reduce sum %y over "tp" origin g serves "down" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    // expected-error @below {{expected an operand that is a partial sum over "tp", found one that is replicated}}
    %r2 = dist.all_reduce sum %r over "tp" origin g serves "down" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    %n = tfm.activation gelu %r2 {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    return %n : tensor<2x8xf32>
  }
}

// -----

// The wrong reduction.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  func.func @microbatch(
      %x: tensor<2x8xf32> {dist.global_shape = array<i64: 4, 8>, dist.sharding = #dist.sharding<[{"dp"}, {}]>, tfm.input = #tfm.input<name = "x", axes = ["batch", "embed"]>},
      %up: tensor<8x4xf32> {dist.global_shape = array<i64: 8, 16>, dist.sharding = #dist.sharding<[{}, {"tp"}]>},
      %down: tensor<4x8xf32> {dist.global_shape = array<i64: 16, 8>, dist.sharding = #dist.sharding<[{"tp"}, {}]>}) -> tensor<2x8xf32> {
    %u = tfm.einsum "be,ef->bf" %x, %up {dist.global_shapes = [array<i64: 4, 16>], dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
    %y = tfm.einsum "bf,fe->be" %u, %down {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}], partial = {"tp"}>]} : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    // expected-error @below {{expected an operand that is a partial maximum over "tp", found one that is a partial sum}}
    %r = dist.all_reduce max %y over "tp" origin g serves "down" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    %n = tfm.activation gelu %r {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    return %n : tensor<2x8xf32>
  }
}

// -----

// A partial result.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  // expected-error @below {{expected result 0 in full over "tp", found a partial sum}}
  func.func @microbatch(
      %x: tensor<2x8xf32> {dist.global_shape = array<i64: 4, 8>, dist.sharding = #dist.sharding<[{"dp"}, {}]>, tfm.input = #tfm.input<name = "x", axes = ["batch", "embed"]>},
      %up: tensor<8x4xf32> {dist.global_shape = array<i64: 8, 16>, dist.sharding = #dist.sharding<[{}, {"tp"}]>},
      %down: tensor<4x8xf32> {dist.global_shape = array<i64: 16, 8>, dist.sharding = #dist.sharding<[{"tp"}, {}]>}) -> tensor<2x8xf32> {
    %u = tfm.einsum "be,ef->bf" %x, %up {dist.global_shapes = [array<i64: 4, 16>], dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
    %y = tfm.einsum "bf,fe->be" %u, %down {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}], partial = {"tp"}>]} : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    %r = dist.all_reduce sum %y over "tp" origin g serves "down" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    %n = tfm.activation gelu %r {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    return %y : tensor<2x8xf32>
  }
}

// -----

// A global shape that the local type is no part of.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  func.func @microbatch(
      %x: tensor<2x8xf32> {dist.global_shape = array<i64: 4, 8>, dist.sharding = #dist.sharding<[{"dp"}, {}]>, tfm.input = #tfm.input<name = "x", axes = ["batch", "embed"]>},
      %up: tensor<8x4xf32> {dist.global_shape = array<i64: 8, 16>, dist.sharding = #dist.sharding<[{}, {"tp"}]>},
      %down: tensor<4x8xf32> {dist.global_shape = array<i64: 16, 8>, dist.sharding = #dist.sharding<[{"tp"}, {}]>}) -> tensor<2x8xf32> {
    // expected-error @below {{expected 'tensor<2x4xf32>' to be a part of global shape [4, 8] under #dist.sharding<[{"dp"}, {"tp"}]>, found a part of [4, 16]}}
    %u = tfm.einsum "be,ef->bf" %x, %up {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
    %y = tfm.einsum "bf,fe->be" %u, %down {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}], partial = {"tp"}>]} : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    %r = dist.all_reduce sum %y over "tp" origin g serves "down" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    %n = tfm.activation gelu %r {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    return %n : tensor<2x8xf32>
  }
}

// -----

// A result of another sharding than the function says.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  // expected-error @below {{expected result 0 to be #dist.sharding<[{}, {}]>, found #dist.sharding<[{"dp"}, {}]>}}
  func.func @microbatch(
      %x: tensor<2x8xf32> {dist.global_shape = array<i64: 4, 8>, dist.sharding = #dist.sharding<[{"dp"}, {}]>, tfm.input = #tfm.input<name = "x", axes = ["batch", "embed"]>},
      %up: tensor<8x4xf32> {dist.global_shape = array<i64: 8, 16>, dist.sharding = #dist.sharding<[{}, {"tp"}]>},
      %down: tensor<4x8xf32> {dist.global_shape = array<i64: 16, 8>, dist.sharding = #dist.sharding<[{"tp"}, {}]>}) -> (tensor<2x8xf32> {dist.sharding = #dist.sharding<[{}, {}]>}) {
    %u = tfm.einsum "be,ef->bf" %x, %up {dist.global_shapes = [array<i64: 4, 16>], dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
    %y = tfm.einsum "bf,fe->be" %u, %down {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}], partial = {"tp"}>]} : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    %r = dist.all_reduce sum %y over "tp" origin g serves "down" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    %n = tfm.activation gelu %r {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    return %n : tensor<2x8xf32>
  }
}

// -----

// A split claimed where the operand is whole.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  func.func @microbatch(
      %x: tensor<2x8xf32> {dist.global_shape = array<i64: 4, 8>, dist.sharding = #dist.sharding<[{"dp"}, {}]>, tfm.input = #tfm.input<name = "x", axes = ["batch", "embed"]>},
      %up: tensor<8x4xf32> {dist.global_shape = array<i64: 8, 4>},
      %down: tensor<4x8xf32> {dist.global_shape = array<i64: 16, 8>, dist.sharding = #dist.sharding<[{"tp"}, {}]>}) -> tensor<2x8xf32> {
    // expected-error @below {{expected operand 1 to be split on dimension 1, found replicated over "tp"}}
    %u = tfm.einsum "be,ef->bf" %x, %up {dist.global_shapes = [array<i64: 4, 16>], dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
    %y = tfm.einsum "bf,fe->be" %u, %down {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}], partial = {"tp"}>]} : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    %r = dist.all_reduce sum %y over "tp" origin g serves "down" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    %n = tfm.activation gelu %r {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    return %n : tensor<2x8xf32>
  }
}

// -----

// A state that gets lost.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  func.func @microbatch(
      %x: tensor<2x8xf32> {dist.global_shape = array<i64: 4, 8>, dist.sharding = #dist.sharding<[{"dp"}, {}]>, tfm.input = #tfm.input<name = "x", axes = ["batch", "embed"]>},
      %up: tensor<8x4xf32> {dist.global_shape = array<i64: 8, 16>, dist.sharding = #dist.sharding<[{}, {"tp"}]>},
      %down: tensor<4x8xf32> {dist.global_shape = array<i64: 16, 8>, dist.sharding = #dist.sharding<[{"tp"}, {}]>}) -> tensor<2x8xf32> {
    %u = tfm.einsum "be,ef->bf" %x, %up {dist.global_shapes = [array<i64: 4, 16>], dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
    // expected-error @below {{expected result 0 to be split on dimension 0, found replicated over "dp"}}
    %y = tfm.einsum "bf,fe->be" %u, %down {dist.global_shapes = [array<i64: 2, 8>], dist.shardings = [#dist.sharding<[{}, {}], partial = {"tp"}>]} : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
    // expected-error @below {{expected the state over "dp" to stay replicated, found split on dimension 0}}
    %r = dist.all_reduce sum %y over "tp" origin g serves "down" {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    %n = tfm.activation gelu %r {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{"dp"}, {}]>]} : tensor<2x8xf32>
    return %n : tensor<2x8xf32>
  }
}

// -----

// Vocabulary offsets.
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  func.func @microbatch(%ids: tensor<4xi32> {dist.global_shape = array<i64: 4>},
      %table: tensor<8x4xf32> {dist.global_shape = array<i64: 16, 4>, dist.sharding = #dist.sharding<[{"tp"}, {}]>}) -> tensor<4x4xf32> {
    // expected-error @below {{expected dist.index_axis = "tp" and dist.index_stride = 8: local indices need the rank's offset}}
    %e = tfm.embed %ids, %table {dist.global_shapes = [array<i64: 4, 4>], dist.shardings = [#dist.sharding<[{}, {}], partial = {"tp"}>]} : tensor<4xi32>, tensor<8x4xf32> -> tensor<4x4xf32>
    %r = dist.all_reduce sum %e over "tp" origin embedding serves "t" {dist.global_shapes = [array<i64: 4, 4>], dist.shardings = [#dist.sharding<[{}, {}]>]} : tensor<4x4xf32>
    return %r : tensor<4x4xf32>
  }
}

// -----

// An offset although nothing is split.
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  func.func @microbatch(%ids: tensor<4xi32> {dist.global_shape = array<i64: 4>},
      %table: tensor<8x4xf32> {dist.global_shape = array<i64: 8, 4>}) -> tensor<4x4xf32> {
    // expected-error @below {{expected no dist.index_axis: no indexed dimension is split}}
    %e = tfm.embed %ids, %table {dist.global_shapes = [array<i64: 4, 4>], dist.index_axis = "tp", dist.index_stride = 8 : i64, dist.shardings = [#dist.sharding<[{}, {}]>]} : tensor<4xi32>, tensor<8x4xf32> -> tensor<4x4xf32>
    return %e : tensor<4x4xf32>
  }
}

// -----

// A gradient that is not split as its parameter is.
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  // expected-error @below {{expected the gradient of "w" to be split on dimension 0 over "tp", found replicated}}
  func.func @microbatch(%w: tensor<2xf32> {dist.global_shape = array<i64: 4>, dist.sharding = #dist.sharding<[{"tp"}]>, tfm.param = #tfm.param<name = "w", axes = ["ffn"], init = zeros, std = 0.0, decay = true>})
      -> (tensor<4xf32> {tfm.grad = #tfm.grad<param = "w", use = 0>}) {
    %g = dist.all_gather %w dim 0 over "tp" origin f serves "w" {dist.global_shapes = [array<i64: 4>], dist.shardings = [#dist.sharding<[{}]>]} : tensor<2xf32> -> tensor<4xf32>
    return %g : tensor<4xf32>
  }
}

// -----

// Sound: over an axis on which its parameter is replicated a gradient may be a
// partial sum until the end of the step, as of a scale that all heads share.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 2]>} {
  func.func @microbatch(%ids: tensor<2xi32> {dist.global_shape = array<i64: 4>, dist.sharding = #dist.sharding<[{"dp"}]>, tfm.input = #tfm.input<name = "ids", axes = ["batch"]>},
      %x: tensor<2x2x4xf32> {dist.global_shape = array<i64: 4, 4, 4>, dist.sharding = #dist.sharding<[{"dp"}, {"tp"}, {}]>},
      %w: tensor<4xf32> {dist.global_shape = array<i64: 4>, tfm.param = #tfm.param<name = "w", axes = ["head_dim"], init = zeros, std = 0.0, decay = true>})
      -> (tensor<4xf32> {tfm.grad = #tfm.grad<param = "w", use = 0>}) {
    %g = tfm.reduce sum %x dims [0, 1] {dist.global_shapes = [array<i64: 4>], dist.shardings = [#dist.sharding<[{}], partial = {"dp", "tp"}>]} : tensor<2x2x4xf32> -> tensor<4xf32>
    return %g : tensor<4xf32>
  }
}

// -----

// A loss that is partial over another axis than those of the data: the update
// sums it over these only.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 2]>} {
  // expected-error @below {{expected the loss to be replicated over "tp", found a partial sum}}
  func.func @microbatch(%ids: tensor<2xi32> {dist.global_shape = array<i64: 4>, dist.sharding = #dist.sharding<[{"dp"}]>, tfm.input = #tfm.input<name = "ids", axes = ["batch"]>},
      %x: tensor<2x2xf32> {dist.global_shape = array<i64: 4, 4>, dist.sharding = #dist.sharding<[{"dp"}, {"tp"}]>})
      -> (tensor<f32> {tfm.result = "loss"}) {
    %l = tfm.reduce sum %x dims [0, 1] {dist.global_shapes = [array<i64>], dist.shardings = [#dist.sharding<[], partial = {"dp", "tp"}>]} : tensor<2x2xf32> -> tensor<f32>
    return %l : tensor<f32>
  }
}

// -----

// A gradient that is summed here: its row of rt.param will not say that it is partial.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 2]>} {
  func.func @microbatch(%x: tensor<2x4xf32> {dist.global_shape = array<i64: 4, 4>, dist.sharding = #dist.sharding<[{"dp"}, {}]>, tfm.input = #tfm.input<name = "x", axes = ["batch", "embed"]>},
      %w: tensor<4xf32> {dist.global_shape = array<i64: 4>, tfm.param = #tfm.param<name = "w", axes = ["embed"], init = zeros, std = 0.0, decay = true>})
      -> (tensor<4xf32> {tfm.grad = #tfm.grad<param = "w", use = 0>}) {
    %g = tfm.reduce sum %x dims [0] {dist.global_shapes = [array<i64: 4>], dist.shardings = [#dist.sharding<[{}], partial = {"dp"}>]} : tensor<2x4xf32> -> tensor<4xf32>
    %r = dist.all_reduce sum %g over "dp" origin gradient serves "w" {dist.global_shapes = [array<i64: 4>], dist.shardings = [#dist.sharding<[{}]>]} : tensor<4xf32>
    return %r : tensor<4xf32>
  }
}

// -----

// A loss that is summed here, and once more by the update.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 2]>} {
  // expected-error @below {{expected the loss to be a partial sum over "dp", which the update sums over, found replicated}}
  func.func @microbatch(%x: tensor<2xf32> {dist.global_shape = array<i64: 4>, dist.sharding = #dist.sharding<[{"dp"}]>, tfm.input = #tfm.input<name = "x", axes = ["batch"]>})
      -> (tensor<f32> {tfm.result = "loss"}) {
    %l = tfm.reduce sum %x dims [0] {dist.global_shapes = [array<i64>], dist.shardings = [#dist.sharding<[], partial = {"dp"}>]} : tensor<2xf32> -> tensor<f32>
    %r = dist.all_reduce sum %l over "dp" origin loss serves "x" {dist.global_shapes = [array<i64>], dist.shardings = [#dist.sharding<[]>]} : tensor<f32>
    return %r : tensor<f32>
  }
}

// -----

// The gradient of something else.
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  // expected-error @below {{expected a parameter named "v"}}
  func.func @microbatch(%w: tensor<4xf32> {dist.global_shape = array<i64: 4>}) -> (tensor<4xf32> {tfm.grad = #tfm.grad<param = "v", use = 0>}) {
    return %w : tensor<4xf32>
  }
}

// -----

// Not partitioned yet.
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  // expected-error @below {{expected the global shape of a value of type 'tensor<4xf32>'; run --partition first}}
  func.func @microbatch(%w: tensor<4xf32> {dist.sharding = #dist.sharding<[{"tp"}]>}) {
    // expected-error @below {{expected no reshard after --partition}}
    %r = dist.reshard %w from <[{"tp"}]> to <[{}]> origin f serves "w" : tensor<4xf32>
    // expected-error @below {{expected dist.shardings}}
    %g = tfm.exp %w : tensor<4xf32>
    return
  }
}

// -----

// The outer axis is joined while the inner one stays.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 2]>} {
  func.func @microbatch(%w: tensor<2xf32> {dist.global_shape = array<i64: 8>, dist.sharding = #dist.sharding<[{"dp", "tp"}]>}) {
    // expected-error @below {{expected dimension 0 to be joined from the inner mesh axis outwards}}
    %g = dist.all_gather %w dim 0 over "dp" origin f serves "w" {dist.global_shapes = [array<i64: 8>], dist.shardings = [#dist.sharding<[{"tp"}]>]} : tensor<2xf32> -> tensor<4xf32>
    return
  }
}

// -----

// A maximum whose result says that it is still one.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 2]>} {
  func.func @microbatch(%x: tensor<2x2xf32> {dist.global_shape = array<i64: 4, 4>, dist.sharding = #dist.sharding<[{"dp"}, {"tp"}]>}) {
    %m = tfm.reduce max %x dims [1] {dist.global_shapes = [array<i64: 4>], dist.shardings = [#dist.sharding<[{"dp"}], max = {"tp"}>]} : tensor<2x2xf32> -> tensor<2xf32>
    // expected-error @below {{expected a result that is replicated over "tp", found a partial maximum}}
    %r = dist.all_reduce max %m over "tp" origin loss serves "x" {dist.global_shapes = [array<i64: 4>], dist.shardings = [#dist.sharding<[{"dp"}], max = {"tp"}>]} : tensor<2xf32>
    return
  }
}

// -----

// A blocked dimension.
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  func.func @microbatch(%x: tensor<4x2xf32> {dist.global_shape = array<i64: 4, 4>, dist.sharding = #dist.sharding<[{}, {"tp"}]>},
      %g: tensor<2xf32> {dist.global_shape = array<i64: 4>, dist.sharding = #dist.sharding<[{"tp"}]>}) {
    // expected-error @below {{expected dimension 'z' to be whole, found it split over "tp"}}
    %n, %m, %r = tfm.norm layer_norm %x, %g, %g {eps = 1.0e-05, dist.global_shapes = [array<i64: 4, 4>, array<i64: 4>, array<i64: 4>], dist.shardings = [#dist.sharding<[{}, {"tp"}]>, #dist.sharding<[{}]>, #dist.sharding<[{}]>]} : tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32> -> tensor<4x2xf32>, tensor<4xf32>, tensor<4xf32>
    return
  }
}

// -----

// A maximum of partial sums.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 2]>} {
  func.func @microbatch(%x: tensor<4xf32> {dist.global_shape = array<i64: 4>, dist.sharding = #dist.sharding<[{}], partial = {"dp"}, max = {"tp"}>}) {
    // expected-error @below {{expected no maximum of partial sums over "dp"}}
    %r = dist.all_reduce max %x over "tp" origin loss serves "x" {dist.global_shapes = [array<i64: 4>], dist.shardings = [#dist.sharding<[{}], partial = {"dp"}>]} : tensor<4xf32>
    return
  }
}

// -----

// An op without a rule.
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  func.func @microbatch(%x: tensor<4xf32> {dist.global_shape = array<i64: 4>}) {
    // expected-error @below {{has no sharding rule; expected one in passes/families}}
    %r = arith.negf %x {dist.global_shapes = [array<i64: 4>], dist.shardings = [#dist.sharding<[{}]>]} : tensor<4xf32>
    return
  }
}

// -----

// A random number of another place in the sample.
module attributes {dist.mesh = #dist.mesh<["cp" = 2]>} {
  func.func @microbatch(%x: tensor<2x4x4xf32> {dist.global_shape = array<i64: 2, 8, 4>, dist.sharding = #dist.sharding<[{}, {"cp"}, {}]>}, %s: tensor<i64> {dist.global_shape = array<i64>}) {
    // expected-error @below {{expected dist.piece_axis = "cp" and dist.piece = 2 and dist.piece_dim = 1: local indices need the offset of the rank's piece}}
    %y = tfm.dropout %x at %s {rate = 0.1, rng_layer = 1, site = 2, dist.global_shapes = [array<i64: 2, 8, 4>], dist.piece_dim = 1 : i64, dist.piece_axis = "cp", dist.piece = 4 : i64, dist.shardings = [#dist.sharding<[{}, {"cp"}, {}]>]} : tensor<2x4x4xf32>, tensor<i64> -> tensor<2x4x4xf32>
    return
  }
}

// -----

// A place although nothing is split.
module attributes {dist.mesh = #dist.mesh<["cp" = 2]>} {
  func.func @microbatch(%x: tensor<2x4x4xf32> {dist.global_shape = array<i64: 2, 4, 4>}, %s: tensor<i64> {dist.global_shape = array<i64>}) {
    // expected-error @below {{expected no dist.piece_axis: no indexed dimension is split in a head and a tail}}
    %y = tfm.dropout %x at %s {rate = 0.1, rng_layer = 1, site = 2, dist.global_shapes = [array<i64: 2, 4, 4>], dist.piece_axis = "cp", dist.piece = 2 : i64, dist.shardings = [#dist.sharding<[{}, {}, {}]>]} : tensor<2x4x4xf32>, tensor<i64> -> tensor<2x4x4xf32>
    return
  }
}
