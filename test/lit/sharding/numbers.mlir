// Tests that what is looked up by numbers which every rank can make is made in parts:
// the readers are split over dp, so a rank numbers and looks up its own samples only.
// Numbers of a dimension that is not split need no offset.
// RUN: mtc-opt %s --propagate-shardings --insert-collectives --partition --verify-partitioned | FileCheck %s

// CHECK-NOT: dist.slice
// CHECK: %[[I:.*]] = tfm.iota dim 1
// CHECK-NOT: dist.index_axis
// CHECK-SAME: : tensor<2x3xi32>
// CHECK: tfm.embed %[[I]], %{{.*}} : tensor<2x3xi32>, tensor<5x6xf32> -> tensor<2x3x6xf32>
// CHECK-NOT: dist.slice
// CHECK: return
module attributes {dist.mesh = #dist.mesh<["dp" = 2]>} {
  func.func @microbatch(%x: tensor<4x3x6xf32> {dist.sharding = #dist.sharding<[{"dp"}, {}, {}]>}, %table: tensor<5x6xf32>)
      -> tensor<4x3x6xf32> {
    %i = tfm.iota dim 1 : tensor<4x3xi32>
    %rows = tfm.embed %i, %table : tensor<4x3xi32>, tensor<5x6xf32> -> tensor<4x3x6xf32>
    %y = tfm.add %x, %rows : tensor<4x3x6xf32>
    return %y : tensor<4x3x6xf32>
  }
}
