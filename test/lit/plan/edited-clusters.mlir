// RUN: mtc-opt %s -outline-kernels -lower-calls | FileCheck %s
// Tests that clusters may be edited: one that was split, ops that moved, a value that
// is yielded twice, a constant that a person moved into a cluster, and a sum that
// another cluster adds.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 4, microbatches = 1, global = 4, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
    rt.bucket 0 elements 16 unpadded 16 shard 16
    rt.param "b" use 0 bucket 0 start 0
    // CHECK-LABEL: func.func @stage0_fwd
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      // CHECK: %[[DB:.+]] = rt.ref grad for "b" use 0 : memref<16xf32>
      %u = pipe.received activation : tensor<4x16xf32>
      %b = pipe.param "b" : tensor<16xf32>
      // CHECK: %[[S:.+]] = rt.launch
      // CHECK-SAME: from = "broadcast+add"
      // CHECK-NOT: rt.cluster
      %s = rt.cluster -> (tensor<4x16xf32>) {
        %bb = tfm.broadcast %b dims [1] {tfm.layer = 1 : i64} : tensor<16xf32> -> tensor<4x16xf32>
        %a = tfm.add %u, %bb {tfm.layer = 1 : i64} : tensor<4x16xf32>
        rt.yield %a : tensor<4x16xf32>
      }
      // CHECK: %[[V:.+]] = rt.launch @{{.*}}(%[[S]], %{{.*}}) args() writes [1] {from = "fill+mul+activation"
      %v, %again = rt.cluster -> (tensor<4x16xf32>, tensor<4x16xf32>) {
        %half = tfm.fill 5.000000e-01 {tfm.layer = 1 : i64} : tensor<4x16xf32>
        %h = tfm.mul %s, %half {tfm.layer = 1 : i64} : tensor<4x16xf32>
        %a = tfm.activation relu %h {tfm.layer = 1 : i64} : tensor<4x16xf32>
        rt.yield %a, %a : tensor<4x16xf32>, tensor<4x16xf32>
      }
      // CHECK: %[[Z:.+]] = rt.zero %{{.*}} : (tensor<16xf32>) -> tensor<16xf32>
      // CHECK: %[[SUM:.+]] = rt.launch @{{.*}}(%[[V]], %[[Z]]) args() writes [1] {from = "reduce"
      // CHECK: rt.launch @{{.*}}(%[[SUM]], %[[DB]]) args() writes [1] {from = "accumulate"
      %sum = rt.cluster -> (tensor<16xf32>) {
        %r = tfm.reduce sum %v dims [0] {tfm.layer = 1 : i64} : tensor<4x16xf32> -> tensor<16xf32>
        rt.yield %r : tensor<16xf32>
      }
      rt.cluster {
        pipe.accumulate %sum to "b" use 0 : tensor<16xf32>
      }
      // CHECK: pipe.send activation %[[V]]
      // CHECK: pipe.save %[[V]] as 0
      pipe.send activation %v : tensor<4x16xf32>
      pipe.save %again as 0 : tensor<4x16xf32>
      return
    }
  }
}
