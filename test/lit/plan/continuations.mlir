// RUN: mtc-opt %s -form-clusters -outline-kernels -lower-calls -shard-gradients -overlap-gradients -overlap-parameters -assign-streams | FileCheck %s
// RUN: sed 's/epilogues = \["pointwise"\], //' %s | mtc-opt -form-clusters -outline-kernels -lower-calls -shard-gradients -overlap-gradients -overlap-parameters -assign-streams | FileCheck %s --check-prefix=NONE
// RUN: sed 's/, epilogues = \["pointwise"\], gemm = own//' %s | mtc-opt -form-clusters -outline-kernels -lower-calls -shard-gradients -overlap-gradients -overlap-parameters -assign-streams | FileCheck %s --check-prefix=NONE
// Tests which kernels continue the product of a cpu that they read, and for each reason that one
// does not. What it computes is no reason, but that elements know nothing of each other.

// NONE-NOT: tiled
// NONE-NOT: continues

#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 2, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [2]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>,
  target = <device = "cpu", isa = "x86-64-v3", threads = 1, epilogues = ["pointwise"], gemm = own>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    // the sum that a kernel of its own needs, too: a tiled copy beside the kernel
    // CHECK: rt.kernel @[[PLAIN:kernel[0-9]+]] rows 4 cols 16 args 0
    // CHECK-NOT: tiled
    // CHECK: rt.kernel {{.*}} tiled {

    // CHECK-LABEL: func.func @bias
    func.func @bias() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %w = pipe.param "w" : tensor<8x16xf32>
      %b = pipe.param "b" : tensor<16xf32>
      // CHECK: %[[P:.+]] = rt.gemm {{.*}} by own
      // CHECK: rt.launch {{.*}}%[[P]]{{.*}} continues
      %p = tfm.einsum "be,ef->bf" %x, %w {tfm.layer = 1 : i64} : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
      %bb = tfm.broadcast %b dims [1] {tfm.layer = 1 : i64} : tensor<16xf32> -> tensor<4x16xf32>
      %s = tfm.add %p, %bb {tfm.layer = 1 : i64} : tensor<4x16xf32>
      %m = pipe.param "m" : tensor<16x16xf32>
      %r = tfm.einsum "bf,fe->be" %s, %m {tfm.layer = 1 : i64} : tensor<4x16xf32>, tensor<16x16xf32> -> tensor<4x16xf32>
      pipe.send activation %r : tensor<4x16xf32>
      return
    }
    // The same kernel, behind something else.
    // CHECK-LABEL: func.func @bias_of_another
    func.func @bias_of_another() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x16xf32>
      %b = pipe.param "b" : tensor<16xf32>
      // CHECK: rt.launch @[[PLAIN]](
      // CHECK-NOT: continues
      %bb = tfm.broadcast %b dims [1] {tfm.layer = 1 : i64} : tensor<16xf32> -> tensor<4x16xf32>
      %s = tfm.add %x, %bb {tfm.layer = 1 : i64} : tensor<4x16xf32>
      %m = pipe.param "m" : tensor<16x16xf32>
      // CHECK: rt.gemm
      %r = tfm.einsum "bf,fe->be" %s, %m {tfm.layer = 1 : i64} : tensor<4x16xf32>, tensor<16x16xf32> -> tensor<4x16xf32>
      pipe.send activation %r : tensor<4x16xf32>
      return
    }
    // Sums over rows need all of them.
    // CHECK-LABEL: func.func @norm
    func.func @norm() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<4x8xf32>
      %w = pipe.param "w" : tensor<8x16xf32>
      %g = pipe.param "b" : tensor<16xf32>
      // CHECK: rt.gemm
      // CHECK: rt.launch
      // CHECK-NOT: continues
      %p = tfm.einsum "be,ef->bf" %x, %w {tfm.layer = 1 : i64} : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
      %y, %mean, %rstd = tfm.norm layer_norm %p, %g, %g {eps = 1.000000e-05 : f64, tfm.layer = 1 : i64} : tensor<4x16xf32>, tensor<16xf32>, tensor<16xf32> -> tensor<4x16xf32>, tensor<4xf32>, tensor<4xf32>
      // CHECK: rt.gemm
      %m = pipe.param "m" : tensor<16x16xf32>
      %r = tfm.einsum "bf,fe->be" %y, %m {tfm.layer = 1 : i64} : tensor<4x16xf32>, tensor<16x16xf32> -> tensor<4x16xf32>
      pipe.send activation %r : tensor<4x16xf32>
      return
    }
  }
}
