// LLVM is told to leave loops alone that it would not unroll, or not with any gain: those over
// rows, and those of long arithmetic. To find that out takes it long.
// RUN: mtc-opt %s --codegen-kernels=vector-width=16 --lower-to-llvm | FileCheck %s

// CHECK: #[[UNROLL:.*]] = #llvm.loop_unroll<disable = true>
// CHECK: #[[ROLLED:.*]] = #llvm.loop_annotation<unroll = #[[UNROLL]]>

// Short arithmetic: the columns are LLVM's to decide, the rows around them are not.
// CHECK-LABEL: llvm.func {{.*}}@short
// CHECK: llvm.fadd
// CHECK: llvm.br ^bb3(%{{[0-9]+}} : i64){{$}}
// CHECK: llvm.br ^bb1(%{{[0-9]+}} : i64) {loop_annotation = #[[ROLLED]]}
rt.kernel @short rows 8 cols 512 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>] {
  %x = rt.load 0 : f32
  %r = rt.load 1 : f32
  %y = arith.addf %x, %r : f32
  rt.store 0, %y : f32
}

// CHECK-LABEL: llvm.func {{.*}}@long
// CHECK: llvm.br ^bb3(%{{[0-9]+}} : i64) {loop_annotation = #[[ROLLED]]}
// CHECK: llvm.br ^bb1(%{{[0-9]+}} : i64) {loop_annotation = #[[ROLLED]]}
rt.kernel @long rows 8 cols 512 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>] {
  %x = rt.load 0 : f32
  %r = rt.load 1 : f32
  %s = arith.addf %x, %r : f32
  %y = math.exp %s : f32
  rt.store 0, %y : f32
}
