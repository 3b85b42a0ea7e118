// RUN: mtc-opt %s -derive-eval | FileCheck %s
// Tests that @eval is the forward without random words, saved values and
// gradients, with the attributes of what it has in common, and that exports move, with what
// they alone need.

// CHECK-LABEL: func.func @microbatch
// CHECK: tfm.dropout
// CHECK: tfm.save
// CHECK: rate = 1.0{{.*}}e-01
// CHECK-NOT: tfm.export
// CHECK-NOT: tfm.exp
// CHECK-LABEL: func.func @eval
// CHECK-SAME: (%[[X:.+]]: tensor<2x4x1x8xf32> {dist.sharding = #dist.sharding<[{}, {}, {}, {}]>, tfm.input = #tfm.input<name = "x", axes = ["batch", "seq", "heads", "head_dim"]>}, %{{.+}}: tensor<i64> {tfm.sample_base})
// CHECK-SAME: -> (tensor<f32> {tfm.result = "loss"})
// CHECK-NOT: tfm.dropout
// CHECK-NOT: tfm.save
// CHECK-NOT: backward
// CHECK: %[[E:.+]] = tfm.exp %[[X]]
// CHECK: %[[A:.+]], %{{.+}} = tfm.attention %[[E]], %[[E]], %[[E]]
// CHECK-SAME: rate = 0.0
// CHECK: tfm.export "a" %[[A]]
// CHECK: %[[T:.+]] = tfm.exp %[[A]]
// CHECK: %[[B:.+]] = tfm.exp %[[T]]
// CHECK: tfm.export "b" %[[B]]
// CHECK: %[[L:.+]] = tfm.reduce sum
// CHECK: return %[[L]] : tensor<f32>
func.func @microbatch(%x: tensor<2x4x1x8xf32> {dist.sharding = #dist.sharding<[{}, {}, {}, {}]>, tfm.input = #tfm.input<name = "x", axes = ["batch", "seq", "heads", "head_dim"]>}, %at: tensor<i64> {tfm.sample_base})
    -> (tensor<f32> {tfm.result = "loss"}, tensor<f32> {tfm.grad = #tfm.grad<param = "w", use = 0>}) {
  %d = tfm.dropout %x at %at {rate = 0.1 : f64, rng_layer = 1 : i64, site = 2 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<2x4x1x8xf32>, tensor<i64> -> tensor<2x4x1x8xf32>
  %s = tfm.save %d {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<2x4x1x8xf32>
  %e = tfm.exp %d {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<2x4x1x8xf32>
  %a, %lse = tfm.attention %e, %e, %e at %at {causal = true, scale = 0.25 : f64, rate = 0.1 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 1 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : (tensor<2x4x1x8xf32>, tensor<2x4x1x8xf32>, tensor<2x4x1x8xf32>), tensor<i64> -> tensor<2x4x1x8xf32>, tensor<2x1x4xf32>
  tfm.export "a" %a {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<2x4x1x8xf32>
  %t = tfm.exp %a {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<2x4x1x8xf32>
  %b = tfm.exp %t {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<2x4x1x8xf32>
  tfm.export "b" %b {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<2x4x1x8xf32>
  %l = tfm.reduce sum %a dims [0, 1, 2, 3] {tfm.layer = 2 : i64, tfm.phase = "forward"} : tensor<2x4x1x8xf32> -> tensor<f32>
  %g = tfm.fill 1.0 {tfm.layer = 2 : i64, tfm.phase = "backward"} : tensor<f32>
  return %l, %g : tensor<f32>, tensor<f32>
}
