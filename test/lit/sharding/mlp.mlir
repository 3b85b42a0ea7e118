// Two products with axes that the user named: column- then row-parallel, one
// all-reduce. Before and after each pass.
// RUN: mtc-opt %s --annotate-shardings="mesh=dp=2,tp=4 rules=wide=tp,batch=dp" -o %t.1
// RUN: FileCheck %s --check-prefix=ANNOTATE < %t.1
// RUN: mtc-opt %t.1 --propagate-shardings -o %t.2
// RUN: FileCheck %s --check-prefix=PROPAGATE < %t.2
// RUN: mtc-opt %t.2 --insert-collectives -o %t.3
// RUN: FileCheck %s --check-prefix=INSERT < %t.3
// RUN: mtc-opt %t.3 --partition --verify-partitioned | FileCheck %s --check-prefix=PARTITION

// ANNOTATE: dist.mesh = #dist.mesh<["dp" = 2, "tp" = 4]>
// ANNOTATE-SAME: dist.rules = {batch = "dp", wide = "tp"}
// ANNOTATE: dist.sharding = #dist.sharding<[{"dp"}, {}]>, tfm.input
// ANNOTATE-SAME: dist.sharding = #dist.sharding<[{}, {"tp"}]>
// ANNOTATE-SAME: dist.sharding = #dist.sharding<[{"tp"}, {}]>

// PROPAGATE: -> (tensor<4x8xf32> {dist.sharding = #dist.sharding<[{"dp"}, {}]>})
// PROPAGATE: tfm.einsum "be,ef->bf"
// PROPAGATE-SAME: dist.required = [#dist.sharding<[{"dp"}, {}]>, #dist.sharding<[{}, {"tp"}]>]
// PROPAGATE-SAME: dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]
// PROPAGATE: tfm.activation gelu
// PROPAGATE-SAME: dist.shardings = [#dist.sharding<[{"dp"}, {"tp"}]>]
// PROPAGATE: tfm.einsum "bf,fe->be"
// PROPAGATE-SAME: dist.shardings = [#dist.sharding<[{"dp"}, {}], partial = {"tp"}>]
// PROPAGATE: return {dist.required = [#dist.sharding<[{"dp"}, {}]>]}

// INSERT-NOT: dist.required
// INSERT: %[[Y:.*]] = tfm.einsum "bf,fe->be"
// INSERT-NEXT: %[[R:.*]] = dist.reshard %[[Y]] from <[{"dp"}, {}], partial = {"tp"}> to <[{"dp"}, {}]> origin g serves "down.weight"
// INSERT-SAME: tfm.layer = 1 : i64, tfm.phase = "forward"
// INSERT-NEXT: return %[[R]]

// PARTITION: tensor<2x8xf32> {dist.global_shape = array<i64: 4, 8>
// PARTITION-SAME: tensor<8x4xf32> {dist.global_shape = array<i64: 8, 16>
// PARTITION-SAME: tensor<4x8xf32> {dist.global_shape = array<i64: 16, 8>
// PARTITION-SAME: -> (tensor<2x8xf32>
// PARTITION-NOT: dist.reshard
// PARTITION: tfm.einsum "be,ef->bf"
// PARTITION-SAME: dist.global_shapes = [array<i64: 4, 16>]
// PARTITION-SAME: -> tensor<2x4xf32>
// PARTITION: %[[R:.*]] = dist.all_reduce sum %{{.*}} over "tp" origin g serves "down.weight"
// PARTITION-SAME: tensor<2x8xf32>
// PARTITION-NEXT: return %[[R]] : tensor<2x8xf32>
func.func @microbatch(
    %x: tensor<4x8xf32> {tfm.input = #tfm.input<name = "x", axes = ["batch", "embed"]>},
    %up: tensor<8x16xf32> {tfm.param = #tfm.param<name = "up.weight", axes = ["embed", "wide"], init = normal, std = 0.02, decay = true>},
    %down: tensor<16x8xf32> {tfm.param = #tfm.param<name = "down.weight", axes = ["wide", "embed"], init = normal, std = 0.02, decay = true>})
    -> tensor<4x8xf32> {
  %u = tfm.einsum "be,ef->bf" %x, %up {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  %v = tfm.activation gelu %u {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x16xf32>
  %y = tfm.einsum "bf,fe->be" %v, %down {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
