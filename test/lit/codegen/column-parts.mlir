// Where each thread has columns of its own, it fetches what it will read or write there of the
// next rows, of operands that have a line for each row only; behind the last rows, of the last.
// RUN: mtc-opt %s --codegen-kernels="vector-width=16 threads=2" | FileCheck %s

// Four rows side by side; each fetches of the row that is four further.
// CHECK-LABEL: func.func @sum
// CHECK: scf.for %[[FIRST:.*]] = %{{.*}} to %{{.*}} step %c4
// CHECK: %[[MINE:.*]] = arith.addi %[[FIRST]], %c0{{.*}} : index
// CHECK: %[[NEXT:.*]] = arith.addi %[[MINE]], %c4{{.*}} : index
// CHECK: %[[LAST:.*]] = arith.constant 7 : index
// CHECK: %[[ROW:.*]] = arith.minui %[[NEXT]], %[[LAST]] : index
// CHECK: scf.for
// CHECK: %[[LINE:.*]] = arith.muli %[[ROW]], %{{.*}} : index
// CHECK: %[[START:.*]] = arith.addi %[[LINE]],
// CHECK: %[[AT:.*]] = arith.addi %[[START]],
// CHECK: memref.prefetch %arg0[%[[AT]]], read, locality<3>, data
// CHECK-COUNT-3: memref.prefetch %arg0
// CHECK-NOT: memref.prefetch %arg1
rt.kernel @sum rows 8 cols 512 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] {
  %x = rt.load 0 : f32
  rt.accumulate 1, %x : f32
}

// Long arithmetic: one row and four vectors at a time, of 16 bits two lines of each operand.
// CHECK-LABEL: func.func @gradient
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1
// CHECK: scf.for
// CHECK-COUNT-2: memref.prefetch %arg0[%{{.*}}], read
// CHECK-COUNT-2: memref.prefetch %arg1[%{{.*}}], write
// CHECK: scf.for
rt.kernel @gradient rows 8 cols 512 args 0 [#rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] {
  %b = rt.load 0 : bf16
  %x = arith.extf %b : bf16 to f32
  %y = math.exp %x : f32
  %r = arith.truncf %y : f32 to bf16
  rt.store 1, %r : bf16
  rt.accumulate 2, %y : f32
}

// There are no next rows: an update of parameters, whose columns are known when it runs.
// CHECK-LABEL: func.func @update
// CHECK-NOT: memref.prefetch
rt.kernel @update rows 1 cols -1 args 0 [#rt.operand<mode = full, element = f32, extent = 0>] {
  %x = rt.load 0 : f32
  %y = arith.addf %x, %x : f32
  rt.store 0, %y : f32
}

// One whole group, and nothing behind it.
// CHECK-LABEL: func.func @four
// CHECK-NOT: memref.prefetch
rt.kernel @four rows 4 cols 512 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] {
  %x = rt.load 0 : f32
  rt.accumulate 1, %x : f32
}

// One group, then one row alone: neither has another one of its kind behind it.
// CHECK-LABEL: func.func @five
// CHECK-NOT: memref.prefetch
rt.kernel @five rows 5 cols 512 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] {
  %x = rt.load 0 : f32
  rt.accumulate 1, %x : f32
}
