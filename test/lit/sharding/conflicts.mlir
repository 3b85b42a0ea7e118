// Remarks and errors of propagation and insertion.
// RUN: mtc-opt %s --propagate-shardings --insert-collectives -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: module
// CHECK: tfm.einsum "bm,mn->bn"
// CHECK: dist.reshard %{{.*}} from <[{}, {"tp"}]> to <[{}, {}]> origin g
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  func.func @microbatch(%x: tensor<4x8xf32>, %a: tensor<8x4xf32> {dist.sharding = #dist.sharding<[{}, {"tp"}]>}, %g: tensor<4xf32>)
      -> tensor<4x4xf32> {
    %y = tfm.einsum "bm,mn->bn" %x, %a : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
    // expected-remark @below {{operand 0 is split over 'tp' on dimension 1, which tfm.norm needs whole: it is gathered}}
    %n, %m, %r = tfm.norm layer_norm %y, %g, %g {eps = 1.0e-05} : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
    return %n : tensor<4x4xf32>
  }
}

// -----

// The parameter decides although the activation is larger.
// CHECK-LABEL: module
// CHECK: dist.reshard %arg0 from <[{"tp"}, {}]> to <[{}, {}]>
// CHECK: tfm.einsum
// CHECK-SAME: dist.shardings = [#dist.sharding<[{}, {"tp"}]>]
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  func.func @microbatch(%x: tensor<64x8xf32> {dist.sharding = #dist.sharding<[{"tp"}, {}]>},
      %w: tensor<8x4xf32> {dist.sharding = #dist.sharding<[{}, {"tp"}]>, tfm.param = #tfm.param<name = "w", axes = ["embed", "ffn"], init = zeros, std = 0.0, decay = true>})
      -> tensor<64x4xf32> {
    // expected-remark @below {{operands are split over 'tp' on different dimensions: operand 1 decides}}
    %y = tfm.einsum "bm,mn->bn" %x, %w : tensor<64x8xf32>, tensor<8x4xf32> -> tensor<64x4xf32>
    return %y : tensor<64x4xf32>
  }
}

// -----

// A reader that wants the split gets it by reduce-scatter.
// CHECK-LABEL: module
// CHECK: dist.reshard %{{.*}} from <[{}, {}], partial = {"tp"}> to <[{}, {"tp"}]>
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  func.func @microbatch(%x: tensor<4x8xf32> {dist.sharding = #dist.sharding<[{}, {"tp"}]>},
      %a: tensor<8x4xf32> {dist.sharding = #dist.sharding<[{"tp"}, {}]>},
      %b: tensor<4x8xf32> {dist.sharding = #dist.sharding<[{"tp"}, {}]>}) -> tensor<4x8xf32> {
    %y = tfm.einsum "bm,mn->bn" %x, %a : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
    %z = tfm.einsum "bm,mn->bn" %y, %b : tensor<4x4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
    return %z : tensor<4x8xf32>
  }
}

// -----

// A gradient ends as its parameter lies.
// CHECK-LABEL: module
// CHECK: dist.reshard %{{.*}} from <[{}, {"tp"}]> to <[{"tp"}, {}]> origin gradient
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  func.func @microbatch(%w: tensor<4x4xf32> {dist.sharding = #dist.sharding<[{"tp"}, {}]>, tfm.param = #tfm.param<name = "w", axes = ["ffn", "embed"], init = zeros, std = 0.0, decay = true>},
      %x: tensor<4x4xf32> {dist.sharding = #dist.sharding<[{}, {"tp"}]>})
      -> (tensor<4x4xf32> {tfm.grad = #tfm.grad<param = "w", use = 0>}) {
    %y = tfm.exp %x : tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  func.func @microbatch() -> tensor<f32> {
    // expected-error @below {{has no sharding rule; expected one in passes/families}}
    %y = "arith.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    return %y : tensor<f32>
  }
}
