// Kernels that random ones are not: operands read and written in place, sums
// beside stores that are loaded again, tables of any size, one row, one column.
rt.program @edges stage 0 {
  rt.kernel @split_fwd rows 40 cols 64 args 0 [#rt.operand<mode = row, element = i32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = table, element = f32, extent = 8>] {
    %i = rt.load 0 : i32
    %x = rt.load 1 : f32
    %y = arith.addf %x, %x : f32
    rt.store 2, %y : f32
    %z = rt.load 2 : f32
    rt.scatter_add 3 at %i, %z : f32
  }
  rt.kernel @row_inplace rows 5 cols 1024 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
    %x = rt.load 0 : f32
    %r = rt.load 1 : f32
    %y = arith.mulf %x, %r : f32
    rt.store 2, %y : f32
    %q = arith.addf %r, %r : f32
    rt.store 1, %q : f32
  }
  rt.kernel @row_acc rows 5 cols 4096 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
    %x = rt.load 0 : f32
    %r = rt.load 1 : f32
    %y = arith.mulf %x, %r : f32
    rt.store 2, %y : f32
    %q = arith.addf %r, %r : f32
    rt.accumulate 1, %q : f32
  }
  rt.kernel @row_inplace_warp rows 5 cols 64 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
    %x = rt.load 0 : f32
    %r = rt.load 1 : f32
    %y = arith.mulf %x, %r : f32
    rt.store 2, %y : f32
    %q = arith.addf %r, %r : f32
    rt.store 1, %q : f32
  }
  rt.kernel @row_red_inplace rows 5 cols 64 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
    %x = rt.load 0 : f32
    %r = rt.load 1 : f32
    %m = rt.row_reduce sum %x : f32
    %y = arith.mulf %m, %r : f32
    %z = arith.mulf %y, %x : f32
    rt.store 2, %z : f32
    rt.store 1, %m : f32
  }
  rt.kernel @row_red_wide rows 5 cols 2048 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
    %x = rt.load 0 : f32
    %r = rt.load 1 : f32
    %m = rt.row_reduce sum %x : f32
    %y = arith.mulf %m, %r : f32
    %z = arith.mulf %y, %x : f32
    rt.store 2, %z : f32
    rt.store 1, %m : f32
  }
  rt.kernel @scalar_one_row rows 1 cols 4096 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = scalar, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
    %x = rt.load 0 : f32
    %r = rt.load 1 : f32
    %y = arith.mulf %x, %r : f32
    rt.store 2, %y : f32
    rt.accumulate 1, %r : f32
  }
  rt.kernel @row_chunks_inplace rows 50 cols 2048 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] {
    %x = rt.load 0 : f32
    %r = rt.load 1 : f32
    %z = arith.mulf %r, %x : f32
    rt.accumulate 2, %z : f32
    %s = arith.addf %r, %r : f32
    rt.store 1, %s : f32
  }
  rt.kernel @gather_dyn rows 1 cols -1 args 0 [#rt.operand<mode = row, element = i32, extent = 0>, #rt.operand<mode = table, element = f32, extent = 4>, #rt.operand<mode = full, element = f32, extent = 0>] {
    %i = rt.load 0 : i32
    %g = rt.gather 1 at %i : f32
    rt.store 2, %g : f32
  }
  rt.kernel @scatter_dyn rows 1 cols -1 args 0 [#rt.operand<mode = row, element = i32, extent = 0>, #rt.operand<mode = table, element = f32, extent = 4>, #rt.operand<mode = full, element = f32, extent = 0>] {
    %i = rt.load 0 : i32
    %g = rt.load 2 : f32
    rt.scatter_add 1 at %i, %g : f32
  }
  rt.kernel @rows1_red_scatter rows 1 cols 64 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = table, element = f32, extent = 4>] {
    %x = rt.load 0 : f32
    %m = rt.row_reduce sum %x : f32
    %i = arith.fptosi %m : f32 to i32
    rt.scatter_add 1 at %i, %x : f32
  }
  rt.kernel @one_col rows 40 cols 1 args 0 [#rt.operand<mode = row, element = i32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = table, element = f32, extent = 8>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = scalar, element = f32, extent = 0>, #rt.operand<mode = periodic, element = f32, extent = 3>, #rt.operand<mode = full, element = f32, extent = 0>] {
    %i = rt.load 0 : i32
    %x = rt.load 1 : f32
    rt.scatter_add 2 at %i, %x : f32
    rt.accumulate 3, %x : f32
    rt.accumulate 4, %x : f32
    rt.accumulate 5, %x : f32
    rt.store 6, %x : f32
  }
  rt.kernel @periodic_bf16 rows 40 cols 1000 args 0 [#rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = periodic, element = bf16, extent = 3000>] {
    %x = rt.load 0 : bf16
    rt.accumulate 1, %x : bf16
  }
  rt.kernel @f16col rows 9 cols 64 args 0 [#rt.operand<mode = full, element = f16, extent = 0>, #rt.operand<mode = col, element = f16, extent = 0>] {
    %x = rt.load 0 : f16
    rt.accumulate 1, %x : f16
  }
  rt.kernel @i32_periodic rows 9 cols 64 args 0 [#rt.operand<mode = full, element = i32, extent = 0>, #rt.operand<mode = periodic, element = i32, extent = 3>] {
    %x = rt.load 0 : i32
    rt.accumulate 1, %x : i32
  }
  rt.kernel @row_owners_acc rows 50 cols 2048 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = periodic, element = f32, extent = 4>] {
    %x = rt.load 0 : f32
    %r = rt.load 1 : f32
    %z = arith.mulf %r, %x : f32
    rt.accumulate 2, %z : f32
    %s = arith.addf %r, %r : f32
    rt.store 1, %s : f32
  }
  rt.kernel @bf16scal rows 9 cols 64 args 0 [#rt.operand<mode = row, element = bf16, extent = 0>, #rt.operand<mode = scalar, element = bf16, extent = 0>] {
    %x = rt.load 0 : bf16
    rt.accumulate 1, %x : bf16
  }
  rt.kernel @scalar_then_col rows 9 cols 64 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = scalar, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] {
    %x = rt.load 0 : f32
    %m = rt.row_reduce sum %x : f32
    rt.accumulate 1, %m : f32
    rt.accumulate 2, %x : f32
  }
  rt.kernel @wide_sums rows 9 cols 16384 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = scalar, element = f32, extent = 0>] {
    %x = rt.load 0 : f32
    %m = rt.row_reduce max %x : f32
    rt.accumulate 1, %x : f32
    rt.accumulate 2, %m : f32
  }
  // A gradient of norms whose rounds of columns stay in loops.
  rt.kernel @rounds_in_loops rows 9 cols 8192 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] {
    %dy = rt.load 0 : f32
    %x = rt.load 1 : f32
    %scale = rt.load 2 : f32
    %g = arith.mulf %dy, %scale : f32
    %gx = arith.mulf %g, %x : f32
    %sum = rt.row_reduce sum %g : f32
    %most = rt.row_reduce max %gx : f32
    %less = arith.subf %g, %sum : f32
    %part = arith.mulf %x, %most : f32
    %dx = arith.subf %less, %part : f32
    rt.store 3, %dx : f32
    %own = arith.mulf %dy, %x : f32
    rt.accumulate 4, %own : f32
    rt.accumulate 5, %dy : f32
  }
}
