// RUN: mtc-opt %s -differentiate | FileCheck %s
// Tests that the gradient of a parameter that no sum makes is widened by a cast.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = bf16, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v4", threads = 1>>
module attributes {mtc.config = #config} {
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
