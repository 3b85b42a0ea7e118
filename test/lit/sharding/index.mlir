// Ops that use indices of a split dimension carry axis and stride.
// RUN: mtc-opt %s --propagate-shardings --insert-collectives --partition --verify-partitioned | FileCheck %s

// CHECK: tfm.dropout
// CHECK-SAME: dist.index_axis = "tp", dist.index_dim = 2 : i64, dist.index_stride = 4 : i64
// CHECK: tfm.attention
// CHECK-SAME: dist.index_axis = "tp", dist.index_stride = 2 : i64
// CHECK-SAME: global_heads = 4
// CHECK: tfm.dropout
// CHECK-NOT: dist.index_axis
// A number is made where it is read: each rank has those of its rows.
// CHECK: tfm.iota dim 0 {{.*}}dist.index_axis = "tp", dist.index_stride = 4 : i64{{.*}} : tensor<4xi32>
// CHECK: tfm.embed_grad
// CHECK: return
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 2]>} {
  func.func @microbatch(%x: tensor<4x2x8xf32> {dist.sharding = #dist.sharding<[{}, {}, {"tp"}]>},
      %qkv: tensor<4x2x4x3x8xf32> {dist.sharding = #dist.sharding<[{}, {}, {"tp"}, {}, {}]>},
      %z: tensor<4x2xf32> {dist.sharding = #dist.sharding<[{"dp"}, {}]>}, %s: tensor<i64>,
      %rows: tensor<8x6xf32> {dist.sharding = #dist.sharding<[{"tp"}, {}]>})
      -> (tensor<4x2x8xf32>, tensor<4x2x4x8xf32>, tensor<4x2xf32>, tensor<10x6xf32>) {
    %y = tfm.dropout %x at %s {rate = 0.1, rng_layer = 1, site = 2} : tensor<4x2x8xf32>, tensor<i64> -> tensor<4x2x8xf32>
    %o, %l = tfm.attention %qkv at %s {causal = true, scale = 0.25, rate = 0.1, rng_layer = 1, site = 1, global_heads = 4} : (tensor<4x2x4x3x8xf32>), tensor<i64> -> tensor<4x2x4x8xf32>, tensor<4x4x2xf32>
    %d = tfm.dropout %z at %s {rate = 0.1, rng_layer = 1, site = 3} : tensor<4x2xf32>, tensor<i64> -> tensor<4x2xf32>
    %i = tfm.iota dim 0 : tensor<8xi32>
    %t = tfm.embed_grad %i, %rows : tensor<8xi32>, tensor<8x6xf32> -> tensor<10x6xf32>
    return %y, %o, %d, %t : tensor<4x2x8xf32>, tensor<4x2x4x8xf32>, tensor<4x2xf32>, tensor<10x6xf32>
  }
}
