// RUN: mtc-opt %s -split-input-file -form-clusters -outline-kernels -lower-calls -verify-diagnostics | FileCheck %s
// Tests the calls and kernels that collectives of dist become. A call has the parts of
// the ranks in their order; rows move before and behind it where the dimension is
// another.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 2, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>, mtc.config = #config} {
  rt.program @stage0 stage 0 {
    // A row of the part stands where the rank's part is, zeros elsewhere.
    // CHECK: rt.kernel @[[PLACE:kernel[0-9]+]] rows 8 cols 3 args 1 [#rt.operand<mode = table, element = f32, extent = 4>, #rt.operand<mode = full, element = f32, extent = 0>] {
    // CHECK-NEXT: %[[ROW:.+]] = rt.index row : i32
    // CHECK-NEXT: %[[ARG:.+]] = rt.arg 0 : i64
    // CHECK-NEXT: %[[START:.+]] = arith.trunci %[[ARG]] : i64 to i32
    // CHECK-NEXT: %[[AT:.+]] = arith.addi %[[ROW]], %[[START]] : i32
    // CHECK-NEXT: %[[V:.+]] = rt.gather 0 at %[[AT]] : f32
    // CHECK-NEXT: rt.store 1, %[[V]] : f32
    // CHECK: rt.kernel @[[UNPACK:kernel[0-9]+]] rows 8 cols 3 args 0
    // CHECK: rt.kernel @[[PLACE_FIRST:kernel[0-9]+]] rows 2 cols 12 args 1
    // CHECK: rt.kernel @[[PACK:kernel[0-9]+]] rows 8 cols 3 args 0
    // CHECK: rt.kernel @[[TAKE:kernel[0-9]+]] rows 4 cols 3 args 1
    // CHECK: rt.kernel @[[SLICE:kernel[0-9]+]] rows 4 cols 3 args 1
    // CHECK: func.func @stage0_fwd
    // CHECK-SAME: rt.collectives = [{count = 12 : i64, group = "tp", kind = "all_gather", serves = "a"}, {count = 12 : i64, group = "tp", kind = "all_gather", serves = "b"}, {count = 12 : i64, group = "tp", kind = "reduce_scatter", serves = "c"}]
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %part = pipe.received activation : tensor<4x3xf32>
      %whole = pipe.received gradient : tensor<4x6xf32>

      // CHECK: %[[TP:.+]] = rt.affine <-4 * tp> : i64
      // CHECK: %[[PLACED:.+]] = rt.launch @[[PLACE]](%[[PART:[0-9]+]], %{{.*}}) args(%[[TP]]) writes [1] {{.*}} -> tensor<2x4x3xf32>
      // CHECK: %[[ALL:.+]] = rt.collective all_gather %[[PLACED]] group tp count 12
      // CHECK: %[[A:.+]] = rt.launch @[[UNPACK]](%[[ALL]], %{{.*}}) {{.*}} -> tensor<4x6xf32>
      %a = dist.all_gather %part dim 1 over "tp" origin g serves "a" : tensor<4x3xf32> -> tensor<4x6xf32>

      // Parts of the first dimension lie in order as they are.
      // CHECK: %[[PLACED:.+]] = rt.launch @[[PLACE_FIRST]](%[[PART]], %{{.*}}) {{.*}} -> tensor<8x3xf32>
      // CHECK: %[[B:.+]] = rt.collective all_gather %[[PLACED]] group tp count 12
      %b = dist.all_gather %part dim 0 over "tp" origin g serves "b" : tensor<4x3xf32> -> tensor<8x3xf32>

      // CHECK: %[[PACKED:.+]] = rt.launch @[[PACK]](%[[WHOLE:[0-9]+]], %{{.*}}) {{.*}} -> tensor<2x4x3xf32>
      // CHECK: %[[SUM:.+]] = rt.collective reduce_scatter %[[PACKED]] group tp count 12
      // CHECK: %[[TP:.+]] = rt.affine <4 * tp> : i64
      // CHECK: %[[C:.+]] = rt.launch @[[TAKE]](%[[SUM]], %{{.*}}) args(%[[TP]]) {{.*}} -> tensor<4x3xf32>
      %c = dist.reduce_scatter %whole dim 1 over "tp" origin g serves "c" : tensor<4x6xf32> -> tensor<4x3xf32>

      // CHECK: %[[TP:.+]] = rt.affine <tp> : i64
      // CHECK: %[[D:.+]] = rt.launch @[[SLICE]](%[[WHOLE]], %{{.*}}) args(%[[TP]]) {{.*}} -> tensor<4x3xf32>
      %d = dist.slice %whole dim 1 over "tp" : tensor<4x6xf32> -> tensor<4x3xf32>
      pipe.save %a as 0 : tensor<4x6xf32>
      pipe.save %b as 1 : tensor<8x3xf32>
      pipe.save %c as 2 : tensor<4x3xf32>
      pipe.save %d as 3 : tensor<4x3xf32>
      return
    }
  }
}

// -----

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 2, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x3xf32>
      // expected-error @below {{expected an axis that splits tensors (tp, cp or dp), found "pp"}}
      %r = dist.all_reduce sum %x over "pp" origin g serves "x" : tensor<4x3xf32>
      pipe.save %r as 0 : tensor<4x3xf32>
      return
    }
  }
}

// -----

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 2, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x3xf32>
      // expected-error @below {{expected a collective or a slice over one axis, which partition makes}}
      %r = dist.reshard %x from <[{}, {}], partial = {"tp"}> to <[{}, {}]> origin g serves "x" : tensor<4x3xf32>
      pipe.save %r as 0 : tensor<4x3xf32>
      return
    }
  }
}
