// A split vocabulary: partial embedding, partial maximum, sum and pick; index
// offsets; gradients split as the table is; loss and gradients partial over dp.
// RUN: mtc-opt %s --annotate-shardings="mesh=dp=2,tp=2 rules=vocab=tp,batch=dp" --propagate-shardings --insert-collectives --partition --verify-partitioned | FileCheck %s

// CHECK: dist.sharding = #dist.sharding<[{"tp"}, {}]>
// CHECK: -> (tensor<f32> {dist.sharding = #dist.sharding<[], partial = {"dp"}>, tfm.result = "loss"}, tensor<8x4xf32> {dist.sharding = #dist.sharding<[{"tp"}, {}], partial = {"dp"}>
// CHECK: %[[E:.*]] = tfm.embed {{.*}}dist.index_axis = "tp", dist.index_stride = 8 : i64
// CHECK-NEXT: dist.all_reduce sum %[[E]] over "tp" origin embedding serves "embed.tokens"
// CHECK: tfm.einsum "bse,ve->bsv"
// CHECK: tfm.mask_tail {{.*}} from 15
// CHECK-SAME: dist.index_axis = "tp", dist.index_stride = 8 : i64
// CHECK: %[[M:.*]] = tfm.reduce max
// CHECK-SAME: max = {"tp"}
// CHECK-NEXT: dist.all_reduce max %[[M]] over "tp" origin loss
// CHECK: tfm.broadcast
// CHECK-SAME: tensor<2x4xf32> -> tensor<2x4x8xf32>
// CHECK: %[[S:.*]] = tfm.reduce sum
// CHECK-NEXT: dist.all_reduce sum %[[S]] over "tp" origin loss
// CHECK: %[[P:.*]] = tfm.pick {{.*}}dist.index_axis = "tp", dist.index_stride = 8 : i64
// CHECK-NEXT: dist.all_reduce sum %[[P]] over "tp" origin loss
// CHECK: %[[LOSS:.*]] = tfm.reduce sum {{.*}} dims [0, 1]
// CHECK-SAME: dist.shardings = [#dist.sharding<[], partial = {"dp"}>]
// CHECK: tfm.broadcast
// CHECK-SAME: dist.shardings = [#dist.sharding<[{"dp"}, {}]>]
// CHECK: tfm.pick_grad {{.*}}dist.index_axis = "tp", dist.index_stride = 8 : i64
// CHECK-SAME: -> tensor<2x4x8xf32>
// CHECK: %[[D:.*]] = tfm.einsum "bsv,ve->bse"
// CHECK-NEXT: %[[DR:.*]] = dist.all_reduce sum %[[D]] over "tp" origin f serves "embed.tokens"
// CHECK-NEXT: %[[G:.*]] = tfm.embed_grad {{.*}}, %[[DR]] {dist.global_shapes = [array<i64: 16, 4>], dist.index_axis = "tp", dist.index_stride = 8 : i64, dist.shardings = [#dist.sharding<[{"tp"}, {}], partial = {"dp"}>]
// CHECK: return %[[LOSS]], %[[G]]
func.func @microbatch(
    %ids: tensor<4x4xi32> {tfm.input = #tfm.input<name = "ids", axes = ["batch", "seq"]>},
    %labels: tensor<4x4xi32> {tfm.input = #tfm.input<name = "labels", axes = ["batch", "seq"]>},
    %table: tensor<16x4xf32> {tfm.param = #tfm.param<name = "embed.tokens", axes = ["vocab", "embed"], init = normal, std = 0.02, decay = true>})
    -> (tensor<f32> {tfm.result = "loss"}, tensor<16x4xf32> {tfm.grad = #tfm.grad<param = "embed.tokens", use = 0>}) {
  %e = tfm.embed %ids, %table {tfm.id = 0 : i64, tfm.layer = 0 : i64, tfm.phase = "forward"} : tensor<4x4xi32>, tensor<16x4xf32> -> tensor<4x4x4xf32>
  %z = tfm.einsum "bse,ve->bsv" %e, %table {tfm.id = 1 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x4x4xf32>, tensor<16x4xf32> -> tensor<4x4x16xf32>
  %k = tfm.mask_tail %z from 15 fill 0xFF800000 {tfm.id = 2 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x4x16xf32>
  %m = tfm.reduce max %k dims [2] {tfm.id = 3 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x4x16xf32> -> tensor<4x4xf32>
  %w = tfm.broadcast %m dims [0, 1] {tfm.id = 4 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x4xf32> -> tensor<4x4x16xf32>
  %c = tfm.sub %k, %w {tfm.id = 5 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x4x16xf32>
  %x = tfm.exp %c {tfm.id = 6 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x4x16xf32>
  %s = tfm.reduce sum %x dims [2] {tfm.id = 7 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x4x16xf32> -> tensor<4x4xf32>
  %l = tfm.log %s {tfm.id = 8 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x4xf32>
  %p = tfm.pick %c, %labels {tfm.id = 9 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x4x16xf32>, tensor<4x4xi32> -> tensor<4x4xf32>
  %n = tfm.sub %l, %p {tfm.id = 10 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x4xf32>
  %loss = tfm.reduce sum %n dims [0, 1] {tfm.id = 11 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x4xf32> -> tensor<f32>
  %one = tfm.fill 1.0 {tfm.layer = 1 : i64, tfm.phase = "backward", tfm.primal = [array<i64: 11, 0>]} : tensor<f32>
  %dn = tfm.broadcast %one dims [] {tfm.layer = 1 : i64, tfm.phase = "backward", tfm.primal = [array<i64: 10, 0>]} : tensor<f32> -> tensor<4x4xf32>
  %dz = tfm.pick_grad %labels, %dn {tfm.layer = 1 : i64, tfm.phase = "backward", tfm.primal = [array<i64: 5, 0>]} : tensor<4x4xi32>, tensor<4x4xf32> -> tensor<4x4x16xf32>
  %de = tfm.einsum "bsv,ve->bse" %dz, %table {tfm.layer = 1 : i64, tfm.phase = "backward", tfm.primal = [array<i64: 0, 0>]} : tensor<4x4x16xf32>, tensor<16x4xf32> -> tensor<4x4x4xf32>
  %dt = tfm.embed_grad %ids, %de {tfm.layer = 0 : i64, tfm.phase = "backward", tfm.primal = [array<i64: -1, 2>]} : tensor<4x4xi32>, tensor<4x4x4xf32> -> tensor<16x4xf32>
  return %loss, %dt : tensor<f32>, tensor<16x4xf32>
}
