// RUN: mtc-opt %s -form-clusters -outline-kernels -lower-calls | FileCheck %s
// RUN: sed 's/, epilogues = \["bias", "gelu"\]//' %s | mtc-opt -form-clusters -outline-kernels -lower-calls | FileCheck %s --check-prefix=NONE
// RUN: sed 's/epilogues = \["bias", "gelu"\]/epilogues = ["bias"]/' %s | mtc-opt -form-clusters -outline-kernels -lower-calls | FileCheck %s --check-prefix=BIAS
// Tests which clusters products do before they round, and for each reason that one which does
// not stays a kernel. A target without epilogues has kernels only; one without GELU has bias.

// NONE-NOT: rt.gemm {{.*}} bias
// NONE-NOT: gelu {

#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 2, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [2]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>,
  target = <device = "cuda:sm_90", isa = "x86-64-v3", threads = 1, epilogues = ["bias", "gelu"]>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    // CHECK-LABEL: func.func @bias
    // BIAS-LABEL: func.func @bias
    // BIAS: rt.gemm {{.*}} bias
    // BIAS-NOT: rt.launch
    func.func @bias() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %w = pipe.param "w" : tensor<8x16xf32>
      %b = pipe.param "b" : tensor<16xf32>
      // CHECK: %[[S:.+]] = rt.gemm %{{.*}}, %{{.*}} bias %{{.*}} into %{{.*}} m 4 n 16 k 8 {beta = false, ta = false, tb = false, tfm.layer = 1 : i64} : (tensor<4x8xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
      // CHECK-NOT: rt.launch
      // CHECK: rt.gemm %[[S]]
      %p = tfm.einsum "be,ef->bf" %x, %w {tfm.layer = 1 : i64} : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
      %bb = tfm.broadcast %b dims [1] {tfm.layer = 1 : i64} : tensor<16xf32> -> tensor<4x16xf32>
      %s = tfm.add %p, %bb {tfm.layer = 1 : i64} : tensor<4x16xf32>
      %m = pipe.param "m" : tensor<16x16xf32>
      %r = tfm.einsum "bf,fe->be" %s, %m {tfm.layer = 1 : i64} : tensor<4x16xf32>, tensor<16x16xf32> -> tensor<4x16xf32>
      pipe.send activation %r : tensor<4x16xf32>
      return
    }
    // CHECK-LABEL: func.func @bias_of_odd_columns
    func.func @bias_of_odd_columns() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %w = pipe.param "w" : tensor<8x5xf32>
      %b = pipe.param "b" : tensor<5xf32>
      // CHECK: rt.gemm {{.*}} bias {{.*}} n 5 k 8 {
      // CHECK-NOT: rt.launch
      %p = tfm.einsum "be,ef->bf" %x, %w {tfm.layer = 1 : i64} : tensor<4x8xf32>, tensor<8x5xf32> -> tensor<4x5xf32>
      %bb = tfm.broadcast %b dims [1] {tfm.layer = 1 : i64} : tensor<5xf32> -> tensor<4x5xf32>
      %s = tfm.add %p, %bb {tfm.layer = 1 : i64} : tensor<4x5xf32>
      %m = pipe.param "m" : tensor<5x5xf32>
      %r = tfm.einsum "bf,fe->be" %s, %m {tfm.layer = 1 : i64} : tensor<4x5xf32>, tensor<5x5xf32> -> tensor<4x5xf32>
      pipe.send activation %r : tensor<4x5xf32>
      return
    }
    // CHECK-LABEL: func.func @gelu_of_bias
    // BIAS-LABEL: func.func @gelu_of_bias
    // BIAS-NOT: rt.gemm {{.*}} bias
    // BIAS: rt.launch
    func.func @gelu_of_bias() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %w = pipe.param "w" : tensor<8x16xf32>
      %b = pipe.param "b" : tensor<16xf32>
      // CHECK: %[[G:.+]] = rt.gemm {{.*}} bias {{.*}} m 4 n 16 k 8 gelu {
      // CHECK-NOT: rt.launch
      // CHECK: rt.gemm %[[G]]
      %p = tfm.einsum "be,ef->bf" %x, %w {tfm.layer = 1 : i64} : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
      %bb = tfm.broadcast %b dims [1] {tfm.layer = 1 : i64} : tensor<16xf32> -> tensor<4x16xf32>
      %s = tfm.add %p, %bb {tfm.layer = 1 : i64} : tensor<4x16xf32>
      %g = tfm.activation gelu %s {tfm.layer = 1 : i64} : tensor<4x16xf32>
      %m = pipe.param "m" : tensor<16x16xf32>
      %r = tfm.einsum "bf,fe->be" %g, %m {tfm.layer = 1 : i64} : tensor<4x16xf32>, tensor<16x16xf32> -> tensor<4x16xf32>
      pipe.send activation %r : tensor<4x16xf32>
      return
    }
    // GELU of a value that is no product's, in front of another one's bias.
    // CHECK-LABEL: func.func @gelu_of_another_value
    // CHECK-NOT: gelu {
    // CHECK: rt.launch
    func.func @gelu_of_another_value() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %w = pipe.param "w" : tensor<8x16xf32>
      %b = pipe.param "b" : tensor<16xf32>
      %y = pipe.param "y" : tensor<4x16xf32>
      %p = tfm.einsum "be,ef->bf" %x, %w {tfm.layer = 1 : i64} : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
      %g = tfm.activation gelu %y {tfm.layer = 1 : i64} : tensor<4x16xf32>
      %bb = tfm.broadcast %b dims [1] {tfm.layer = 1 : i64} : tensor<16xf32> -> tensor<4x16xf32>
      %s = tfm.add %p, %bb {tfm.layer = 1 : i64} : tensor<4x16xf32>
      %m = pipe.param "m" : tensor<16x16xf32>
      %r = tfm.einsum "bf,fe->be" %g, %m {tfm.layer = 1 : i64} : tensor<4x16xf32>, tensor<16x16xf32> -> tensor<4x16xf32>
      %q = tfm.einsum "bf,fe->be" %s, %m {tfm.layer = 1 : i64} : tensor<4x16xf32>, tensor<16x16xf32> -> tensor<4x16xf32>
      pipe.send activation %r : tensor<4x16xf32>
      pipe.send activation.1 %q : tensor<4x16xf32>
      return
    }
    // CHECK-LABEL: func.func @gelu_and_what_it_is_of
    func.func @gelu_and_what_it_is_of() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %w = pipe.param "w" : tensor<8x16xf32>
      %b = pipe.param "b" : tensor<16xf32>
      // CHECK: %[[G:.+]]:2 = rt.gemm {{.*}} bias {{.*}} into {{.*}} aux {{.*}} m 4 n 16 k 8 gelu {
      // CHECK-NOT: rt.launch
      // CHECK: rt.gemm %[[G]]#0
      // CHECK: pipe.save %[[G]]#1 as 7
      %p = tfm.einsum "be,ef->bf" %x, %w {tfm.layer = 1 : i64} : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
      %bb = tfm.broadcast %b dims [1] {tfm.layer = 1 : i64} : tensor<16xf32> -> tensor<4x16xf32>
      %s = tfm.add %p, %bb {tfm.layer = 1 : i64} : tensor<4x16xf32>
      %g = tfm.activation gelu %s {tfm.layer = 1 : i64} : tensor<4x16xf32>
      pipe.save %s as 7 : tensor<4x16xf32>
      %m = pipe.param "m" : tensor<16x16xf32>
      %r = tfm.einsum "bf,fe->be" %g, %m {tfm.layer = 1 : i64} : tensor<4x16xf32>, tensor<16x16xf32> -> tensor<4x16xf32>
      pipe.send activation %r : tensor<4x16xf32>
      return
    }
    // CHECK-LABEL: func.func @gelu_of_the_product
    func.func @gelu_of_the_product() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %w = pipe.param "w" : tensor<8x16xf32>
      %b = pipe.param "b" : tensor<16xf32>
      // CHECK: %[[G:.+]]:2 = rt.gemm %{{[^ ]*}}, %{{[^ ]*}} into {{.*}} aux {{.*}} m 4 n 16 k 8 gelu {
      // CHECK-NOT: rt.launch
      // CHECK: rt.gemm %[[G]]#0
      // CHECK: pipe.save %[[G]]#1 as 7
      %p = tfm.einsum "be,ef->bf" %x, %w {tfm.layer = 1 : i64} : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
      %g = tfm.activation gelu %p {tfm.layer = 1 : i64} : tensor<4x16xf32>
      pipe.save %p as 7 : tensor<4x16xf32>
      %m = pipe.param "m" : tensor<16x16xf32>
      %r = tfm.einsum "bf,fe->be" %g, %m {tfm.layer = 1 : i64} : tensor<4x16xf32>, tensor<16x16xf32> -> tensor<4x16xf32>
      pipe.send activation %r : tensor<4x16xf32>
      return
    }
    // CHECK-LABEL: func.func @columns_that_aux_cannot_have
    func.func @columns_that_aux_cannot_have() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %w = pipe.param "w" : tensor<8x12xf32>
      %b = pipe.param "b" : tensor<12xf32>
      // CHECK-NOT: rt.gemm {{.*}} bias
      // CHECK-NOT: gelu {
      // CHECK: rt.launch
      %p = tfm.einsum "be,ef->bf" %x, %w {tfm.layer = 1 : i64} : tensor<4x8xf32>, tensor<8x12xf32> -> tensor<4x12xf32>
      %bb = tfm.broadcast %b dims [1] {tfm.layer = 1 : i64} : tensor<12xf32> -> tensor<4x12xf32>
      %s = tfm.add %p, %bb {tfm.layer = 1 : i64} : tensor<4x12xf32>
      %g = tfm.activation gelu %s {tfm.layer = 1 : i64} : tensor<4x12xf32>
      pipe.save %s as 7 : tensor<4x12xf32>
      %m = pipe.param "m" : tensor<12x12xf32>
      %r = tfm.einsum "bf,fe->be" %g, %m {tfm.layer = 1 : i64} : tensor<4x12xf32>, tensor<12x12xf32> -> tensor<4x12xf32>
      pipe.send activation %r : tensor<4x12xf32>
      return
    }
    // CHECK-LABEL: func.func @another_activation
    func.func @another_activation() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %w = pipe.param "w" : tensor<8x16xf32>
      %b = pipe.param "b" : tensor<16xf32>
      // CHECK-NOT: rt.gemm {{.*}} bias
      // CHECK-NOT: gelu {
      // CHECK: rt.launch
      %p = tfm.einsum "be,ef->bf" %x, %w {tfm.layer = 1 : i64} : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
      %bb = tfm.broadcast %b dims [1] {tfm.layer = 1 : i64} : tensor<16xf32> -> tensor<4x16xf32>
      %s = tfm.add %p, %bb {tfm.layer = 1 : i64} : tensor<4x16xf32>
      %g = tfm.activation relu %s {tfm.layer = 1 : i64} : tensor<4x16xf32>
      %m = pipe.param "m" : tensor<16x16xf32>
      %r = tfm.einsum "bf,fe->be" %g, %m {tfm.layer = 1 : i64} : tensor<4x16xf32>, tensor<16x16xf32> -> tensor<4x16xf32>
      pipe.send activation %r : tensor<4x16xf32>
      return
    }
    // CHECK-LABEL: func.func @more_behind_it
    func.func @more_behind_it() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %w = pipe.param "w" : tensor<8x16xf32>
      %b = pipe.param "b" : tensor<16xf32>
      // CHECK-NOT: rt.gemm {{.*}} bias
      // CHECK-NOT: gelu {
      // CHECK: rt.launch
      %p = tfm.einsum "be,ef->bf" %x, %w {tfm.layer = 1 : i64} : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
      %bb = tfm.broadcast %b dims [1] {tfm.layer = 1 : i64} : tensor<16xf32> -> tensor<4x16xf32>
      %s = tfm.add %p, %bb {tfm.layer = 1 : i64} : tensor<4x16xf32>
      %g = tfm.exp %s {tfm.layer = 1 : i64} : tensor<4x16xf32>
      %m = pipe.param "m" : tensor<16x16xf32>
      %r = tfm.einsum "bf,fe->be" %g, %m {tfm.layer = 1 : i64} : tensor<4x16xf32>, tensor<16x16xf32> -> tensor<4x16xf32>
      pipe.send activation %r : tensor<4x16xf32>
      return
    }
    // CHECK-LABEL: func.func @two_readers_of_the_product
    func.func @two_readers_of_the_product() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %w = pipe.param "w" : tensor<8x16xf32>
      %b = pipe.param "b" : tensor<16xf32>
      // CHECK-NOT: rt.gemm {{.*}} bias
      // CHECK-NOT: gelu {
      // CHECK: rt.launch
      %p = tfm.einsum "be,ef->bf" %x, %w {tfm.layer = 1 : i64} : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
      %bb = tfm.broadcast %b dims [1] {tfm.layer = 1 : i64} : tensor<16xf32> -> tensor<4x16xf32>
      %s = tfm.add %p, %bb {tfm.layer = 1 : i64} : tensor<4x16xf32>
      pipe.save %p as 7 : tensor<4x16xf32>
      %m = pipe.param "m" : tensor<16x16xf32>
      %r = tfm.einsum "bf,fe->be" %s, %m {tfm.layer = 1 : i64} : tensor<4x16xf32>, tensor<16x16xf32> -> tensor<4x16xf32>
      pipe.send activation %r : tensor<4x16xf32>
      return
    }
    // CHECK-LABEL: func.func @rows_of_a_bias
    func.func @rows_of_a_bias() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %w = pipe.param "w" : tensor<8x16xf32>
      %b = pipe.param "b" : tensor<4xf32>
      // CHECK-NOT: rt.gemm {{.*}} bias
      // CHECK-NOT: gelu {
      // CHECK: rt.launch
      %p = tfm.einsum "be,ef->bf" %x, %w {tfm.layer = 1 : i64} : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
      %bb = tfm.broadcast %b dims [0] {tfm.layer = 1 : i64} : tensor<4xf32> -> tensor<4x16xf32>
      %s = tfm.add %p, %bb {tfm.layer = 1 : i64} : tensor<4x16xf32>
      %m = pipe.param "m" : tensor<16x16xf32>
      %r = tfm.einsum "bf,fe->be" %s, %m {tfm.layer = 1 : i64} : tensor<4x16xf32>, tensor<16x16xf32> -> tensor<4x16xf32>
      pipe.send activation %r : tensor<4x16xf32>
      return
    }
    // CHECK-LABEL: func.func @a_sum_over_ranks_between
    func.func @a_sum_over_ranks_between() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %w = pipe.param "w" : tensor<8x16xf32>
      %b = pipe.param "b" : tensor<16xf32>
      // CHECK-NOT: rt.gemm {{.*}} bias
      // CHECK-NOT: gelu {
      // CHECK: rt.launch
      %p = tfm.einsum "be,ef->bf" %x, %w {tfm.layer = 1 : i64} : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
      %q = dist.all_reduce sum %p over "tp" origin g serves "w" : tensor<4x16xf32>
      %bb = tfm.broadcast %b dims [1] {tfm.layer = 1 : i64} : tensor<16xf32> -> tensor<4x16xf32>
      %s = tfm.add %q, %bb {tfm.layer = 1 : i64} : tensor<4x16xf32>
      %m = pipe.param "m" : tensor<16x16xf32>
      %r = tfm.einsum "bf,fe->be" %s, %m {tfm.layer = 1 : i64} : tensor<4x16xf32>, tensor<16x16xf32> -> tensor<4x16xf32>
      pipe.send activation %r : tensor<4x16xf32>
      return
    }
    // CHECK-LABEL: func.func @another_layer
    func.func @another_layer() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %w = pipe.param "w" : tensor<8x16xf32>
      %b = pipe.param "b" : tensor<16xf32>
      // CHECK-NOT: rt.gemm {{.*}} bias
      // CHECK-NOT: gelu {
      // CHECK: rt.launch
      %p = tfm.einsum "be,ef->bf" %x, %w {tfm.layer = 1 : i64} : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
      %bb = tfm.broadcast %b dims [1] {tfm.layer = 2 : i64} : tensor<16xf32> -> tensor<4x16xf32>
      %s = tfm.add %p, %bb {tfm.layer = 2 : i64} : tensor<4x16xf32>
      %m = pipe.param "m" : tensor<16x16xf32>
      %r = tfm.einsum "bf,fe->be" %s, %m {tfm.layer = 2 : i64} : tensor<4x16xf32>, tensor<16x16xf32> -> tensor<4x16xf32>
      pipe.send activation %r : tensor<4x16xf32>
      return
    }
    // CHECK-LABEL: func.func @a_wider_sum
    func.func @a_wider_sum() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xbf16>
      %w = pipe.param "v" : tensor<8x16xbf16>
      %b = pipe.param "b" : tensor<16xf32>
      // CHECK-NOT: rt.gemm {{.*}} bias
      // CHECK: rt.launch
      %p = tfm.einsum "be,ef->bf" %x, %w {tfm.layer = 1 : i64} : tensor<4x8xbf16>, tensor<8x16xbf16> -> tensor<4x16xf32>
      %bb = tfm.broadcast %b dims [1] {tfm.layer = 1 : i64} : tensor<16xf32> -> tensor<4x16xf32>
      %s = tfm.add %p, %bb {tfm.layer = 1 : i64} : tensor<4x16xf32>
      pipe.send activation %s : tensor<4x16xf32>
      return
    }
  }
}
