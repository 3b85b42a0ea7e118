// Who goes through whole rows fetches, with each vector, what lies some lines further on: only
// the pass that is the first to read or write an operand. Operands that have no element for each
// row and column are in a cache already.
// RUN: mtc-opt %s --codegen-kernels="vector-width=16" | FileCheck %s

// 32 lines of 16 numbers further; long arithmetic takes four lines at a time.
// CHECK-LABEL: func.func @softmax
// CHECK: vector.load %arg0
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %c512{{.*}} : index
// CHECK-NEXT: memref.prefetch %arg0[%[[AT]]], read, locality<3>, data
// CHECK-NOT: memref.prefetch
// CHECK: scf.for %{{.*}} step %c64
// CHECK-NOT: memref.prefetch %arg0
// CHECK-COUNT-4: memref.prefetch %arg1[%{{.*}}], write
// CHECK-NOT: memref.prefetch
// CHECK: return
rt.kernel @softmax rows 8 cols 768 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] {
  %x = rt.load 0 : f32
  %max = rt.row_reduce max %x : f32
  %bias = rt.load 2 : f32
  %moved = arith.subf %x, %max : f32
  %exp = math.exp %moved : f32
  %sum = arith.addf %exp, %bias : f32
  rt.store 1, %sum : f32
}

// Of 16 bits a vector is half a line, and 32 lines are 1,024 elements.
// CHECK-LABEL: func.func @norm
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %c1024{{.*}} : index
// CHECK-NEXT: memref.prefetch %arg0[%[[AT]]], read
// CHECK-NOT: memref.prefetch
// CHECK: return
rt.kernel @norm rows 8 cols 768 args 0 [#rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>] {
  %b = rt.load 0 : bf16
  %x = arith.extf %b : bf16 to f32
  %sum = rt.row_reduce sum %x : f32
  rt.store 1, %sum : f32
}
