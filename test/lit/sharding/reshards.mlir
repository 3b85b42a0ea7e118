// Every kind of collective, and the order on a dimension that two axes split:
// joined from the inner axis outwards, cut from the outer one inwards.
// RUN: mtc-opt %s --partition | FileCheck %s

// CHECK: %[[G1:.*]] = dist.all_gather %arg0 dim 0 over "tp"
// CHECK-SAME: tensor<2x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT: %[[G2:.*]] = dist.all_gather %[[G1]] dim 0 over "dp"
// CHECK-SAME: tensor<4x8xf32> -> tensor<8x8xf32>
// CHECK-NEXT: %[[S1:.*]] = dist.slice %[[G2]] dim 1 over "dp"
// CHECK-SAME: tensor<8x8xf32> -> tensor<8x4xf32>
// CHECK-NEXT: %[[S2:.*]] = dist.slice %[[S1]] dim 1 over "tp"
// CHECK-SAME: tensor<8x4xf32> -> tensor<8x2xf32>
// CHECK: dist.reduce_scatter %{{.*}} dim 1 over "tp" origin g serves "w"
// CHECK-SAME: tensor<4x8xf32> -> tensor<4x4xf32>
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 2]>} {
  func.func @microbatch(%x: tensor<8x8xf32> {dist.sharding = #dist.sharding<[{"dp", "tp"}, {}]>},
      %a: tensor<8x8xf32> {dist.sharding = #dist.sharding<[{"dp"}, {"tp"}]>},
      %w: tensor<8x8xf32> {dist.sharding = #dist.sharding<[{"tp"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
    %r = dist.reshard %x from <[{"dp", "tp"}, {}]> to <[{}, {"dp", "tp"}]> origin g serves "x" {dist.shardings = [#dist.sharding<[{}, {"dp", "tp"}]>]} : tensor<8x8xf32>
    %y = tfm.einsum "bm,mn->bn" %a, %w {dist.shardings = [#dist.sharding<[{"dp"}, {}], partial = {"tp"}>]} : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %s = dist.reshard %y from <[{"dp"}, {}], partial = {"tp"}> to <[{"dp"}, {"tp"}]> origin g serves "w" {dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]} : tensor<8x8xf32>
    return %r, %s : tensor<8x8xf32>, tensor<8x8xf32>
  }
}
