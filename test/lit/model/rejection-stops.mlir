// RUN: not mtc compile %s --from=import --compile-to=differentiate 2>&1 | FileCheck %s
// RUN: not mtc-opt %s -differentiate > %t 2>&1
// Tests that mtc and mtc-opt stop after a phase which reported an error.

// CHECK: phase differentiate rejected the IR
// CHECK-NEXT: error: 'tfm.reduce' op expected a maximum behind tfm.stop_gradient
// CHECK-NOT: module
#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1, gemm = own>>
module attributes {mtc.config = #config} {
  func.func @microbatch(%w: tensor<4x8xf32> {tfm.param = #tfm.param<name = "w", axes = ["batch", "embed"], init = normal, std = 0.02 : f64, decay = true>}) -> (tensor<4xf32> {tfm.result = "loss"}) {
    %m = tfm.reduce max %w dims [1] {tfm.id = 0 : i64, tfm.layer = 0 : i64, tfm.phase = "forward"} : tensor<4x8xf32> -> tensor<4xf32>
    return %m : tensor<4xf32>
  }
}
