// RUN: mtc-opt %s -split-input-file -verify-diagnostics
// Tests that each branch of the dist verifiers fires.

// expected-error @+1 {{expected sizes of at least 1, found "dp" = 0}}
module attributes {dist.mesh = #dist.mesh<["dp" = 0]>} {}
// -----
// expected-error @+1 {{expected axes with different names, found "tp" twice}}
module attributes {dist.mesh = #dist.mesh<["tp" = 2, "tp" = 2]>} {}
// -----
// expected-error @+1 {{expected each axis once, found "tp" twice}}
module attributes {a = #dist.sharding<[{"tp"}, {"tp"}]>} {}
// -----
// expected-error @+1 {{expected 'partial' or 'max', found 'sum'}}
module attributes {a = #dist.sharding<[{}], sum = {"tp"}>} {}
// -----
func.func @reshard_must_change(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected two shardings that differ, found #dist.sharding<[{}, {}]>}}
  %0 = dist.reshard %x from <[{}, {}]> to <[{}, {}]> origin g serves "w" : tensor<4x8xf32>
  return
}
// -----
func.func @reshard_rank(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected a sharding of rank 2, found #dist.sharding<[{"tp"}]>}}
  %0 = dist.reshard %x from <[{"tp"}]> to <[{}]> origin g serves "w" : tensor<4x8xf32>
  return
}
// -----
func.func @reshard_makes_no_partial(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected no new partial value, found one over "tp"}}
  %0 = dist.reshard %x from <[{}, {}]> to <[{}, {}], partial = {"tp"}> origin g serves "w" : tensor<4x8xf32>
  return
}
// -----
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  func.func @axis_of_the_mesh(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{expected an axis of the mesh #dist.mesh<["tp" = 2]>, found "dp"}}
    %0 = dist.all_reduce sum %x over "dp" origin g serves "w" : tensor<4x8xf32>
    return
  }
}
// -----
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  func.func @parts(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{expected dim 1 to be 8 in 2 parts over "tp", found 8}}
    %0 = dist.slice %x dim 1 over "tp" : tensor<4x8xf32> -> tensor<4x8xf32>
    return
  }
}
// -----
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  func.func @gathered(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{expected dim 1 to be 17 in 2 parts over "tp", found 8}}
    %0 = dist.all_gather %x dim 1 over "tp" origin sp serves "w" : tensor<4x8xf32> -> tensor<4x17xf32>
    return
  }
}
// -----
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  func.func @other_dimensions(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{expected other dimensions and the element type to agree, found 'tensor<4x8xf32>' and 'tensor<3x4xf32>'}}
    %0 = dist.reduce_scatter %x dim 1 over "tp" origin sp serves "w" : tensor<4x8xf32> -> tensor<3x4xf32>
    return
  }
}
// -----
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  func.func @dim_in_rank(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{expected dim below rank 2, found 2}}
    %0 = dist.slice %x dim 2 over "tp" : tensor<4x8xf32> -> tensor<4x4xf32>
    return
  }
}
