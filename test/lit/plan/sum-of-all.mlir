// RUN: mtc-opt %s -form-clusters -outline-kernels -lower-calls | FileCheck %s
// Tests that a sum of all rows to one value is a sum along one row, by the tree of
// lanes, and not an addition per row: its rounding does not grow with the rows. A
// sum to a vector stays with the kernel that makes its terms.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    // CHECK: rt.kernel @[[EXP:kernel[0-9]+]] rows 64 cols 16
    // CHECK: rt.accumulate
    // CHECK: rt.kernel @[[SUM:kernel[0-9]+]] rows 1 cols 1024
    // CHECK: rt.row_reduce sum
    // CHECK-LABEL: func.func @stage0_fwd
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x16x16xf32>
      // CHECK: %[[E:[0-9]+]]:2 = rt.launch @[[EXP]](%{{.*}}) {{.*}}from = "exp+reduce"
      %e = tfm.exp %x {tfm.layer = 1 : i64} : tensor<4x16x16xf32>
      %v = tfm.reduce sum %e dims [0, 1] {tfm.layer = 1 : i64} : tensor<4x16x16xf32> -> tensor<16xf32>
      // CHECK: rt.launch @[[SUM]](%[[E]]#0{{.*}}from = "reduce"
      %s = tfm.reduce sum %e dims [0, 1, 2] {tfm.layer = 1 : i64} : tensor<4x16x16xf32> -> tensor<f32>
      pipe.loss %s : tensor<f32>
      // The other way round: what would give the sum rows does not join it.
      // CHECK: rt.launch @{{kernel[0-9]+}}({{.*}}from = "reduce"
      // CHECK: rt.launch @{{kernel[0-9]+}}({{.*}}from = "reduce"
      %t = tfm.reduce sum %x dims [0, 1, 2] {tfm.layer = 2 : i64} : tensor<4x16x16xf32> -> tensor<f32>
      %w = tfm.reduce sum %x dims [0, 1] {tfm.layer = 2 : i64} : tensor<4x16x16xf32> -> tensor<16xf32>
      pipe.export "t" %t : tensor<f32>
      pipe.export "w" %w : tensor<16xf32>
      pipe.send activation %v : tensor<16xf32>
      return
    }
  }
}
