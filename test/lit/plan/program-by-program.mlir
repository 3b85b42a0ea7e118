// Tests that the phases on one rt.program at a time are nested on the programs, give
// equal plans on any number of threads, and report the errors of all programs in order.

// RUN: mtc compile gpt2-nano --pp 4 --gbs 8 --mbs 1 -j 1 --compile-to verify-plan -o %t.1
// RUN: mtc compile gpt2-nano --pp 4 --gbs 8 --mbs 1 -j 4 --compile-to verify-plan -o %t.4
// RUN: diff %t.1 %t.4
// RUN: mtc compile gpt2-nano --pp 4 --gbs 8 --mbs 1 --compile-to verify-plan --mlir-timing -o %t.2 2>&1 | FileCheck %s --check-prefix=NESTED
// NESTED: shard-optimizer
// NESTED-NOT: rt.program
// NESTED: form-clusters
// NESTED: 'rt.program' Pipeline
// NESTED: outline-kernels
// NESTED-NEXT: OutlineKernels
// NESTED-NEXT: 'builtin.module' Pipeline
// NESTED-NEXT: 'rt.program' Pipeline
// NESTED-NEXT: outline-kernels
// NESTED: assign-streams
// NESTED: 'rt.program' Pipeline
// NESTED: plan-memory
// NESTED: 'rt.program' Pipeline
// NESTED: verify-plan
// NESTED-NOT: rt.program

// RUN: not mtc-opt %s --form-clusters --outline-kernels 2>&1 | FileCheck %s
// RUN: not mtc-opt %s --form-clusters --outline-kernels --mlir-disable-threading 2>&1 | FileCheck %s
#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 2>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1, 1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %ids = pipe.received activation : tensor<4x8xi32>
      %t = pipe.received activation : tensor<16x4xf32>
      // CHECK: [[@LINE+1]]:{{.*}} error: 'tfm.embed' op expected dist.index_axis to be
      %e = tfm.embed %ids, %t {tfm.layer = 0 : i64, dist.index_axis = "xx", dist.index_dim = 0 : i64, dist.index_stride = 16 : i64} : tensor<4x8xi32>, tensor<16x4xf32> -> tensor<4x8x4xf32>
      return
    }
  }
  rt.program @stage1 stage 1 {
    func.func @stage1_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = forward>} {
      %ids = pipe.received activation : tensor<4x8xi32>
      %t = pipe.received activation : tensor<16x4xf32>
      // CHECK: [[@LINE+1]]:{{.*}} error: 'tfm.embed' op expected dist.index_axis to be
      %e = tfm.embed %ids, %t {tfm.layer = 0 : i64, dist.index_axis = "yy", dist.index_dim = 0 : i64, dist.index_stride = 16 : i64} : tensor<4x8xi32>, tensor<16x4xf32> -> tensor<4x8x4xf32>
      return
    }
  }
}
