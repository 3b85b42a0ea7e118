// RUN: mtc compile gpt2-nano --set model.ffn=98 --bucket-layout dense --dp 3 --zero 1 --mbs 1 --gbs 3 --compile-to=verify-plan | FileCheck %s
// RUN: mtc compile gpt2-nano --set model.ffn=98 --bucket-layout dense --dp 3 --zero 2 --mbs 1 --gbs 3 --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt %t.mlir --verify-plan | FileCheck %s --check-prefix=STAGED
// Tests that parameters lie side by side in a dense bucket, which ends at a multiple of
// dp, and that a gradient that waits for its sum over dp lies as its parameter does.

// CHECK: layout = dense
// CHECK: rt.bucket 0 elements 120585 unpadded 120584 shard 40195
// CHECK: rt.bucket 1 elements 16386 unpadded 16384 shard 5462
// The bias has 98 elements.
// CHECK: rt.param "layers.3.mlp.up.bias" use 0 bucket 0 start 6464
// CHECK: rt.param "layers.3.mlp.up.weight" use 0 bucket 0 start 6562
// CHECK-LABEL: func.func @stage0_apply
// CHECK: rt.flat_range start 6562 count 6272 shard 40195

// Four bytes an element: 64 does not divide 4 * 6562.
// STAGED: rt.param "layers.3.mlp.up.weight" use 0 bucket 0 start 6562
// STAGED-LABEL: func.func @stage0_bwd
// STAGED: %[[UP:.+]] = rt.view workspace at 26248 : memref<64x98xf32>
// STAGED: rt.gemm {{.*}} into %[[UP]] {{.*}}beta = true
// STAGED: rt.collective reduce_scatter {{.*}} group dp count 40195

// in an aligned layout everything that is in the workspace begins at a line
// RUN: sed -e 's/, layout = dense//' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=LINE
// LINE: 'rt.view' expected offset and stride in multiples of 64 bytes in the arena workspace, found offset {{[0-9]+}} and stride 0

// shards that leave the last elements to nobody
// RUN: sed -e 's/elements 120585 unpadded 120584 shard 40195/elements 120585 unpadded 120584 shard 40194/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SHARD
// SHARD: expected 3 shards of together 120585 elements, found shards of 40194
