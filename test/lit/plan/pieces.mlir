// RUN: mtc-opt %s -form-clusters -outline-kernels -lower-calls | FileCheck %s
// Tests the kernels around collectives over an axis whose ranks have a piece of the
// head and one of the tail. A call has the parts of the ranks one behind the other,
// [rank, before, half, elements of a piece]: with two ranks pieces 0, 3 and 1, 2.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 2, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {dist.mesh = #dist.mesh<["cp" = 2]>, mtc.config = #config} {
  rt.program @stage0 stage 0 {
    // CHECK: rt.kernel @[[PLACE:kernel[0-9]+]] rows 12 cols 10 args 1
    // Row (before, piece p) is that of rank p + half·(3 - 2p), where half is p / 2.
    // CHECK: rt.kernel @[[UNPACK:kernel[0-9]+]] rows 12 cols 10 args 0
    // CHECK-NEXT: %[[ROW:.+]] = rt.index row : i32
    // CHECK: %[[P:.+]] = arith.remui %[[ROW]], %{{.*}}
    // CHECK: %[[BEFORE:.+]] = arith.divui %[[ROW]], %{{.*}}
    // CHECK: %[[HALF:.+]] = arith.divui %[[P]], %{{.*}}
    // CHECK: rt.kernel @[[PACK:kernel[0-9]+]] rows 12 cols 10 args 0
    // CHECK: rt.kernel @[[TAKE:kernel[0-9]+]] rows 6 cols 10 args 1
    // CHECK: rt.kernel @[[SLICE:kernel[0-9]+]] rows 6 cols 10 args 1
    // CHECK: func.func @stage0_fwd
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %part = pipe.received activation : tensor<3x4x5xf32>
      %whole = pipe.received gradient : tensor<3x8x5xf32>

      // CHECK: %[[CP:.+]] = rt.affine <-6 * cp> : i64
      // CHECK: %[[PLACED:.+]] = rt.launch @[[PLACE]](%{{.*}}) args(%[[CP]]) {{.*}} -> tensor<4x3x10xf32>
      // CHECK: %[[ALL:.+]] = rt.collective all_gather %[[PLACED]] group cp count 60
      // CHECK: rt.launch @[[UNPACK]](%[[ALL]], %{{.*}}) {{.*}} -> tensor<3x8x5xf32>
      %a = dist.all_gather %part dim 1 over "cp" origin g serves "a" : tensor<3x4x5xf32> -> tensor<3x8x5xf32>

      // CHECK: %[[PACKED:.+]] = rt.launch @[[PACK]](%{{.*}}) {{.*}} -> tensor<4x3x10xf32>
      // CHECK: %[[SUM:.+]] = rt.collective reduce_scatter %[[PACKED]] group cp count 60
      // CHECK: %[[CP:.+]] = rt.affine <6 * cp> : i64
      // CHECK: rt.launch @[[TAKE]](%[[SUM]], %{{.*}}) args(%[[CP]]) {{.*}} -> tensor<3x4x5xf32>
      %c = dist.reduce_scatter %whole dim 1 over "cp" origin g serves "c" : tensor<3x8x5xf32> -> tensor<3x4x5xf32>

      // CHECK: %[[CP:.+]] = rt.affine <cp> : i64
      // CHECK: rt.launch @[[SLICE]](%{{.*}}) args(%[[CP]]) {{.*}} -> tensor<3x4x5xf32>
      %d = dist.slice %whole dim 1 over "cp" : tensor<3x8x5xf32> -> tensor<3x4x5xf32>
      pipe.save %a as 0 : tensor<3x8x5xf32>
      pipe.save %c as 1 : tensor<3x4x5xf32>
      pipe.save %d as 2 : tensor<3x4x5xf32>
      return
    }
  }
}
