// Three products share an input; its three partial gradients are added to a full
// one. The sum is split, and reduced by one all-reduce.
// RUN: mtc-opt %s --annotate-shardings="mesh=tp=2 rules=ffn=tp" --propagate-shardings --insert-collectives | FileCheck %s
// RUN: mtc-opt %s --annotate-shardings="mesh=tp=2 rules=ffn=tp" --propagate-shardings --insert-collectives --partition --verify-partitioned | FileCheck %s --check-prefix=LOCAL

// CHECK-NOT: dist.reshard
// CHECK: %[[A:.*]] = tfm.einsum "bf,ef->be"
// CHECK-NEXT: %[[B:.*]] = tfm.einsum "bf,ef->be"
// CHECK-NEXT: %[[C:.*]] = tfm.einsum "bf,ef->be"
// CHECK-NEXT: %[[S:.*]] = tfm.add %[[A]], %[[B]], %[[C]]
// CHECK-SAME: partial = {"tp"}
// CHECK-NEXT: %[[R:.*]] = dist.reshard %[[S]] from <[{}, {}], partial = {"tp"}> to <[{}, {}]> origin f serves "c.weight+b.weight+a.weight"
// CHECK-NEXT: %[[T:.*]] = tfm.add %[[R]], %arg0
// CHECK-NEXT: tfm.activation gelu %[[T]]
// CHECK-NOT: dist.reshard

// LOCAL-COUNT-1: dist.all_reduce sum
// LOCAL-NOT: dist.all_reduce
func.func @microbatch(%full: tensor<4x8xf32>, %d: tensor<4x16xf32> {dist.sharding = #dist.sharding<[{}, {"tp"}]>},
    %wa: tensor<8x16xf32> {tfm.param = #tfm.param<name = "a.weight", axes = ["embed", "ffn"], init = normal, std = 0.02, decay = true>},
    %wb: tensor<8x16xf32> {tfm.param = #tfm.param<name = "b.weight", axes = ["embed", "ffn"], init = normal, std = 0.02, decay = true>},
    %wc: tensor<8x16xf32> {tfm.param = #tfm.param<name = "c.weight", axes = ["embed", "ffn"], init = normal, std = 0.02, decay = true>})
    -> tensor<4x8xf32> {
  %a = tfm.einsum "bf,ef->be" %d, %wa {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<4x16xf32>, tensor<8x16xf32> -> tensor<4x8xf32>
  %b = tfm.einsum "bf,ef->be" %d, %wb {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<4x16xf32>, tensor<8x16xf32> -> tensor<4x8xf32>
  %c = tfm.einsum "bf,ef->be" %d, %wc {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<4x16xf32>, tensor<8x16xf32> -> tensor<4x8xf32>
  %s = tfm.add %a, %full {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<4x8xf32>
  %t = tfm.add %s, %b, %c {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<4x8xf32>
  %y = tfm.activation gelu %t {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
