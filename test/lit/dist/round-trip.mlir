// RUN: mtc-opt %s | mtc-opt | FileCheck %s --strict-whitespace
// Tests that dist attributes and ops print what they parse.

// CHECK: dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>} {
  // CHECK-LABEL: func.func @collectives
  // CHECK-SAME: #dist.sharding<[{"dp"}, {"tp"}]>
  func.func @collectives(%x: tensor<4x8xf32> {dist.sharding = #dist.sharding<[{"dp"}, {"tp"}]>}) {
    // CHECK: dist.reshard %{{.*}} from <[{}, {}], partial = {"tp"}> to <[{}, {}]> origin g serves "w" : tensor<4x8xf32>
    %0 = dist.reshard %x from <[{}, {}], partial = {"tp"}> to <[{}, {}]> origin g serves "w" : tensor<4x8xf32>
    // CHECK: dist.all_reduce sum %{{.*}} over "tp" origin f serves "w" : tensor<4x8xf32>
    %1 = dist.all_reduce sum %0 over "tp" origin f serves "w" : tensor<4x8xf32>
    // CHECK: dist.reduce_scatter %{{.*}} dim 1 over "tp" origin sp serves "w" : tensor<4x8xf32> -> tensor<4x2xf32>
    %2 = dist.reduce_scatter %1 dim 1 over "tp" origin sp serves "w" : tensor<4x8xf32> -> tensor<4x2xf32>
    // CHECK: dist.all_gather %{{.*}} dim 1 over "tp" origin sp serves "w" : tensor<4x2xf32> -> tensor<4x8xf32>
    %3 = dist.all_gather %2 dim 1 over "tp" origin sp serves "w" : tensor<4x2xf32> -> tensor<4x8xf32>
    // CHECK: dist.slice %{{.*}} dim 0 over "dp" : tensor<4x8xf32> -> tensor<2x8xf32>
    %4 = dist.slice %3 dim 0 over "dp" : tensor<4x8xf32> -> tensor<2x8xf32>
    // CHECK: dist.all_reduce max
    // CHECK-SAME: #dist.sharding<[{}, {}], max = {"tp"}>
    %5 = dist.all_reduce max %4 over "tp" origin loss serves "z" {s = #dist.sharding<[{}, {}], max = {"tp"}>} : tensor<2x8xf32>
    return
  }
}
