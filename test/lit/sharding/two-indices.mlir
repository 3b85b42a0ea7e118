// A random number of a value that is split along the sequence, in a head and a tail, and
// along the hidden size, in equal parts: both dimensions have a place in the sample.
// RUN: mtc-opt %s --propagate-shardings --insert-collectives --partition --verify-partitioned | FileCheck %s

// CHECK: tfm.dropout
// CHECK-SAME: dist.index_axis = "tp", dist.index_dim = 2 : i64, dist.index_stride = 4 : i64, dist.piece = 2 : i64, dist.piece_axis = "cp", dist.piece_dim = 1 : i64
module attributes {dist.mesh = #dist.mesh<["cp" = 2, "tp" = 2]>} {
  func.func @microbatch(%x: tensor<4x8x8xf32> {dist.sharding = #dist.sharding<[{}, {"cp"}, {"tp"}]>}, %s: tensor<i64>) -> tensor<4x8x8xf32> {
    %y = tfm.dropout %x at %s {rate = 0.1, rng_layer = 1, site = 2} : tensor<4x8x8xf32>, tensor<i64> -> tensor<4x8x8xf32>
    return %y : tensor<4x8x8xf32>
  }
}
