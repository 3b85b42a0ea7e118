// RUN: mtc compile gpt2-nano --optimizer lion --strategy %S/Inputs/groups.toml --mbs 2 --gbs 4 --dp 2 --zero 1 \
// RUN:   --compile-to=plan-memory -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: mtc-opt --verify-plan %t.mlir -o /dev/null
// RUN: sed -e 's/rt.step_field lr group 1/rt.step_field lr group 2/' %t.mlir > %t.other.mlir
// RUN: not mtc-opt --verify-plan %t.other.mlir 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed -e 's/rt.step_field weight_decay group 2/rt.step_field weight_decay/' %t.mlir > %t.all.mlir
// RUN: not mtc-opt --verify-plan %t.all.mlir 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: sed -e 's/groups = \["embeddings", "norms"\]/groups = ["embeddings", "scales"]/' %t.mlir > %t.unknown.mlir
// RUN: not mtc-opt --verify-plan %t.unknown.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: mtc compile gpt2-nano --strategy %S/Inputs/groups.toml --mbs 2 --gbs 4 --compile-to=bucket-gradients -o %t.early.mlir
// RUN: sed -e 's/groups = \["embeddings", "norms"\]/groups = ["norms"]/' %t.early.mlir > %t.lacks.mlir
// RUN: not mtc-opt --shard-optimizer %t.lacks.mlir 2>&1 | FileCheck %s --check-prefix=LACKS
// Tests that overrides put parameters into groups, that `apply` updates each with what
// its group has in the step block, and that verify-plan holds it to that.

// CHECK: optimizer = <kind = lion, zero = 1, bucket_size = 40000000, groups = ["embeddings", "norms"]>
// CHECK-DAG: name = "embed.tokens"{{.*}}decay = true, group = "embeddings">
// CHECK-DAG: name = "embed.positions"{{.*}}decay = false, group = "embeddings">
// CHECK-DAG: name = "layers.0.norm1.scale"{{.*}}decay = true, group = "norms">
// CHECK-DAG: name = "layers.0.norm2.scale"{{.*}}decay = false>
// Lion has one state of each element.
// CHECK: states = ["exp_avg"]
// CHECK: func.func @stage0_apply
// CHECK-DAG: rt.step_field lr group 1 : memref<1xf32>
// CHECK-DAG: rt.step_field lr group 2 : memref<1xf32>
// CHECK-DAG: rt.step_field weight_decay group 1 : memref<1xf32>
// CHECK-DAG: rt.step_field weight_decay group 2 : memref<1xf32>
// CHECK-DAG: rt.step_field lr : memref<1xf32>
// Betas are those of all.
// CHECK-NOT: rt.step_field beta1 group

// OTHER: expected "embed.positions" to be updated with values of group 1 of the step block, found those of group 2
// ALL: expected "layers.0.norm1.bias" to be updated with values of group 2 of the step block, found those of group 0
// UNKNOWN: expected a group of mtc.config, found "norms" of "layers.0.norm1.bias"
// LACKS: expected a group of mtc.config, found "embeddings"
