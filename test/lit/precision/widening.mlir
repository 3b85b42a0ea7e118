// RUN: mtc-opt %s -differentiate | FileCheck %s
// Tests that the gradient of a parameter that no sum makes is widened by a cast.

module attributes {mtc.config = {dtype = "bf16"}} {
  // CHECK-LABEL: func.func @microbatch
  func.func @microbatch(%w: tensor<4x8xbf16> {tfm.param = #tfm.param<name = "w", axes = ["batch", "embed"], init = normal, std = 0.02 : f64, decay = true>}) -> (tensor<f32> {tfm.result = "loss"}) {
    %e = tfm.scale %w by 2.0 {tfm.id = 0 : i64, tfm.layer = 0 : i64, tfm.phase = "forward"} : tensor<4x8xbf16>
    %m = tfm.reduce sum %e dims [0, 1] {tfm.id = 1 : i64, tfm.layer = 0 : i64, tfm.phase = "forward"} : tensor<4x8xbf16> -> tensor<f32>
    // CHECK: %[[D:.+]] = tfm.scale {{.*}}phase = "backward"{{.*}} : tensor<4x8xbf16>
    // CHECK: %[[WIDE:.+]] = tfm.cast %[[D]] {tfm.layer = 0 : i64, tfm.phase = "backward", {{.*}}} : tensor<4x8xbf16> -> tensor<4x8xf32>
    // CHECK: return %{{.*}}, %[[WIDE]] : tensor<f32>, tensor<4x8xf32>
    return %m : tensor<f32>
  }
}
