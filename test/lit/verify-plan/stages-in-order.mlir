// Tests that what verify-plan finds at several stages, which it looks at side by side, is
// reported check by check and stage by stage, as on one thread.

// RUN: mtc compile gpt2-nano --pp 4 --gbs 8 --mbs 1 --compile-to plan-memory -o %t.plan
// RUN: sed 's/rt.step run @\(stage[0-9]*_fwd\) microbatch 3/rt.step run @\1 microbatch 2/' %t.plan > %t.mlir
// RUN: not mtc-opt %t.mlir --verify-plan --mlir-disable-threading 2> %t.one
// RUN: not mtc-opt %t.mlir --verify-plan 2> %t.several
// RUN: diff %t.one %t.several
// RUN: FileCheck %s --input-file %t.several

// CHECK: expected "stage0_fwd" once per microbatch, found microbatch 2 again
// CHECK: expected "stage0_fwd" for microbatch 3, found no such row
// CHECK: expected "stage1_fwd" once per microbatch
// CHECK: expected "stage2_fwd" once per microbatch
// CHECK: expected "stage3_fwd" once per microbatch
// CHECK: expected "stage3_fwd" for microbatch 3, found no such row
// CHECK: expected "stage0_fwd" of microbatch 2 to find its value
// CHECK: expected "stage1_fwd" of microbatch 2 to find its value
// CHECK: expected "stage2_fwd" of microbatch 2 to find its value
// CHECK: expected "stage3_fwd" of microbatch 2 to find its value
