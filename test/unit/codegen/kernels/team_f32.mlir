// What a plan of gpt2-nano has (mtc compile gpt2-nano --threads 2), but for
// kernels of one row. See team_test.cpp.
rt.kernel @f32_0 rows 128 cols 64 args 3 [#rt.operand<mode = row, element = i32, extent = 0>, #rt.operand<mode = table, element = f32, extent = 256>, #rt.operand<mode = periodic, element = f32, extent = 32>, #rt.operand<mode = full, element = f32, extent = 0>] {
  %0 = rt.load 0 : i32
  %1 = rt.gather 1 at %0 : f32
  %2 = rt.load 2 : f32
  %3 = arith.addf %1, %2 : f32
  %c32_i32 = arith.constant 32 : i32
  %4 = rt.index row : i32
  %5 = arith.divui %4, %c32_i32 : i32
  %6 = arith.remui %4, %c32_i32 : i32
  %7 = rt.index col : i32
  %c64_i32 = arith.constant 64 : i32
  %8 = arith.muli %6, %c64_i32 : i32
  %9 = arith.addi %8, %7 : i32
  %10 = arith.extui %5 : i32 to i64
  %11 = rt.arg 0 : i64
  %12 = arith.addi %11, %10 : i64
  %13 = rt.arg 1 : i64
  %14 = rt.arg 2 : i64
  %15 = rt.random %13, %12, %14, %9 {site = 0 : i64} : i32
  %c429496729_i32 = arith.constant 429496729 : i32
  %16 = arith.cmpi uge, %15, %c429496729_i32 : i32
  %cst = arith.constant 1.11111116 : f32
  %17 = arith.mulf %3, %cst : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %18 = arith.select %16, %17, %cst_0 : f32
  rt.store 3, %18 : f32
}
rt.kernel @f32_1 rows 128 cols 64 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>] {
  %0 = rt.load 0 : f32
  %1 = rt.load 1 : f32
  %2 = rt.load 2 : f32
  %3 = rt.row_reduce sum %0 : f32
  %cst = arith.constant 1.562500e-02 : f32
  %4 = arith.mulf %3, %cst : f32
  %5 = arith.subf %0, %4 : f32
  %6 = arith.mulf %5, %5 : f32
  %7 = rt.row_reduce sum %6 : f32
  %cst_0 = arith.constant 1.562500e-02 : f32
  %8 = arith.mulf %7, %cst_0 : f32
  %cst_1 = arith.constant 9.99999974E-6 : f32
  %9 = arith.addf %8, %cst_1 : f32
  %10 = math.sqrt %9 : f32
  %cst_2 = arith.constant 1.000000e+00 : f32
  %11 = arith.divf %cst_2, %10 : f32
  %12 = arith.mulf %5, %11 : f32
  %13 = math.fma %12, %1, %2 : f32
  rt.store 3, %13 : f32
  rt.store 4, %4 : f32
  rt.store 5, %11 : f32
}
rt.kernel @f32_2 rows 128 cols 192 args 0 [#rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
  %0 = rt.load 0 : f32
  %1 = rt.load 1 : f32
  %2 = arith.addf %1, %0 : f32
  rt.store 2, %2 : f32
}
rt.kernel @f32_3 rows 128 cols 64 args 3 [#rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>] {
  %0 = rt.load 0 : f32
  %1 = rt.load 1 : f32
  %2 = arith.addf %1, %0 : f32
  %c32_i32 = arith.constant 32 : i32
  %3 = rt.index row : i32
  %4 = arith.divui %3, %c32_i32 : i32
  %5 = arith.remui %3, %c32_i32 : i32
  %6 = rt.index col : i32
  %c64_i32 = arith.constant 64 : i32
  %7 = arith.muli %5, %c64_i32 : i32
  %8 = arith.addi %7, %6 : i32
  %9 = arith.extui %4 : i32 to i64
  %10 = rt.arg 0 : i64
  %11 = arith.addi %10, %9 : i64
  %12 = rt.arg 1 : i64
  %13 = rt.arg 2 : i64
  %14 = rt.random %12, %11, %13, %8 {site = 2 : i64} : i32
  %c429496729_i32 = arith.constant 429496729 : i32
  %15 = arith.cmpi uge, %14, %c429496729_i32 : i32
  %cst = arith.constant 1.11111116 : f32
  %16 = arith.mulf %2, %cst : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %17 = arith.select %15, %16, %cst_0 : f32
  %18 = rt.load 2 : f32
  %19 = arith.addf %18, %17 : f32
  rt.store 3, %19 : f32
  %20 = rt.load 4 : f32
  %21 = rt.load 5 : f32
  %22 = rt.row_reduce sum %19 : f32
  %cst_1 = arith.constant 1.562500e-02 : f32
  %23 = arith.mulf %22, %cst_1 : f32
  %24 = arith.subf %19, %23 : f32
  %25 = arith.mulf %24, %24 : f32
  %26 = rt.row_reduce sum %25 : f32
  %cst_2 = arith.constant 1.562500e-02 : f32
  %27 = arith.mulf %26, %cst_2 : f32
  %cst_3 = arith.constant 9.99999974E-6 : f32
  %28 = arith.addf %27, %cst_3 : f32
  %29 = math.sqrt %28 : f32
  %cst_4 = arith.constant 1.000000e+00 : f32
  %30 = arith.divf %cst_4, %29 : f32
  %31 = arith.mulf %24, %30 : f32
  %32 = math.fma %31, %20, %21 : f32
  rt.store 6, %32 : f32
  rt.store 7, %23 : f32
  rt.store 8, %30 : f32
}
rt.kernel @f32_4 rows 128 cols 256 args 0 [#rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
  %0 = rt.load 0 : f32
  %1 = rt.load 1 : f32
  %2 = arith.addf %1, %0 : f32
  %3 = arith.mulf %2, %2 : f32
  %cst = arith.constant 1.59576917 : f32
  %cst_0 = arith.constant 0.0713548139 : f32
  %4 = math.fma %3, %cst_0, %cst : f32
  %cst_1 = arith.constant 0.214064449 : f32
  %5 = math.fma %3, %cst_1, %cst : f32
  %6 = arith.mulf %2, %4 : f32
  %7 = rt.logistic %6 : f32
  %8 = arith.mulf %2, %7 : f32
  rt.store 2, %8 : f32
}
rt.kernel @f32_5 rows 128 cols 64 args 3 [#rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
  %0 = rt.load 0 : f32
  %1 = rt.load 1 : f32
  %2 = arith.addf %1, %0 : f32
  %c32_i32 = arith.constant 32 : i32
  %3 = rt.index row : i32
  %4 = arith.divui %3, %c32_i32 : i32
  %5 = arith.remui %3, %c32_i32 : i32
  %6 = rt.index col : i32
  %c64_i32 = arith.constant 64 : i32
  %7 = arith.muli %5, %c64_i32 : i32
  %8 = arith.addi %7, %6 : i32
  %9 = arith.extui %4 : i32 to i64
  %10 = rt.arg 0 : i64
  %11 = arith.addi %10, %9 : i64
  %12 = rt.arg 1 : i64
  %13 = rt.arg 2 : i64
  %14 = rt.random %12, %11, %13, %8 {site = 3 : i64} : i32
  %c429496729_i32 = arith.constant 429496729 : i32
  %15 = arith.cmpi uge, %14, %c429496729_i32 : i32
  %cst = arith.constant 1.11111116 : f32
  %16 = arith.mulf %2, %cst : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %17 = arith.select %15, %16, %cst_0 : f32
  %18 = rt.load 2 : f32
  %19 = arith.addf %18, %17 : f32
  rt.store 3, %19 : f32
}
rt.kernel @f32_6 rows 128 cols 256 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = row, element = i32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>] {
  %0 = rt.load 0 : f32
  %1 = rt.index col : i32
  %c250_i32 = arith.constant 250 : i32
  %2 = arith.cmpi slt, %1, %c250_i32 : i32
  %cst = arith.constant 0xFF800000 : f32
  %3 = arith.select %2, %0, %cst : f32
  %4 = rt.row_reduce max %3 : f32
  rt.store 1, %4 : f32
  %5 = arith.subf %3, %4 : f32
  %6 = math.exp %5 : f32
  %7 = rt.row_reduce sum %6 : f32
  rt.store 2, %7 : f32
  %8 = rt.load 3 : i32
  %9 = rt.index col : i32
  %10 = arith.cmpi eq, %9, %8 : i32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %11 = arith.select %10, %3, %cst_0 : f32
  %12 = rt.row_reduce sum %11 : f32
  %13 = math.log %7 : f32
  %14 = arith.addf %13, %4 : f32
  %15 = arith.subf %14, %12 : f32
  %cst_1 = arith.constant 7.812500e-03 : f32
  %16 = arith.mulf %15, %cst_1 : f32
  rt.store 4, %16 : f32
}
rt.kernel @f32_7 rows 128 cols 256 args 0 [#rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = row, element = i32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
  %cst = arith.constant 1.000000e+00 : f32
  %cst_0 = arith.constant 7.812500e-03 : f32
  %0 = arith.mulf %cst, %cst_0 : f32
  %cst_1 = arith.constant -1.000000e+00 : f32
  %1 = arith.mulf %0, %cst_1 : f32
  %2 = rt.load 0 : f32
  %3 = arith.divf %0, %2 : f32
  %4 = rt.load 1 : i32
  %5 = rt.index col : i32
  %6 = arith.cmpi eq, %5, %4 : i32
  %cst_2 = arith.constant 0.000000e+00 : f32
  %7 = arith.select %6, %1, %cst_2 : f32
  %8 = rt.load 2 : f32
  %9 = rt.index col : i32
  %c250_i32 = arith.constant 250 : i32
  %10 = arith.cmpi slt, %9, %c250_i32 : i32
  %cst_3 = arith.constant 0xFF800000 : f32
  %11 = arith.select %10, %8, %cst_3 : f32
  %12 = rt.load 3 : f32
  %13 = arith.subf %11, %12 : f32
  %14 = math.exp %13 : f32
  %15 = arith.mulf %3, %14 : f32
  %16 = arith.addf %7, %15 : f32
  %17 = rt.index col : i32
  %c250_i32_4 = arith.constant 250 : i32
  %18 = arith.cmpi slt, %17, %c250_i32_4 : i32
  %cst_5 = arith.constant 0.000000e+00 : f32
  %19 = arith.select %18, %16, %cst_5 : f32
  rt.store 4, %19 : f32
}
rt.kernel @f32_8 rows 128 cols 64 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] {
  %0 = rt.load 0 : f32
  %1 = rt.load 1 : f32
  %2 = rt.load 2 : f32
  %3 = rt.load 3 : f32
  %4 = rt.load 4 : f32
  %5 = arith.subf %1, %3 : f32
  %6 = arith.mulf %5, %4 : f32
  %7 = arith.mulf %0, %2 : f32
  %8 = rt.row_reduce sum %7 : f32
  %cst = arith.constant 1.562500e-02 : f32
  %9 = arith.mulf %8, %cst : f32
  %10 = arith.subf %7, %9 : f32
  %11 = arith.mulf %7, %6 : f32
  %12 = rt.row_reduce sum %11 : f32
  %cst_0 = arith.constant 1.562500e-02 : f32
  %13 = arith.mulf %12, %cst_0 : f32
  %14 = arith.mulf %6, %13 : f32
  %15 = arith.subf %10, %14 : f32
  %16 = arith.mulf %4, %15 : f32
  rt.store 5, %16 : f32
  %17 = arith.subf %1, %3 : f32
  %18 = arith.mulf %17, %4 : f32
  %19 = arith.mulf %0, %18 : f32
  rt.accumulate 6, %19 : f32
  rt.accumulate 7, %0 : f32
}
rt.kernel @f32_9 rows 128 cols 64 args 3 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] {
  %0 = rt.load 0 : f32
  %c32_i32 = arith.constant 32 : i32
  %1 = rt.index row : i32
  %2 = arith.divui %1, %c32_i32 : i32
  %3 = arith.remui %1, %c32_i32 : i32
  %4 = rt.index col : i32
  %c64_i32 = arith.constant 64 : i32
  %5 = arith.muli %3, %c64_i32 : i32
  %6 = arith.addi %5, %4 : i32
  %7 = arith.extui %2 : i32 to i64
  %8 = rt.arg 0 : i64
  %9 = arith.addi %8, %7 : i64
  %10 = rt.arg 1 : i64
  %11 = rt.arg 2 : i64
  %12 = rt.random %10, %9, %11, %6 {site = 3 : i64} : i32
  %c429496729_i32 = arith.constant 429496729 : i32
  %13 = arith.cmpi uge, %12, %c429496729_i32 : i32
  %cst = arith.constant 1.11111116 : f32
  %14 = arith.mulf %0, %cst : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %15 = arith.select %13, %14, %cst_0 : f32
  rt.store 1, %15 : f32
  rt.accumulate 2, %15 : f32
}
rt.kernel @f32_10 rows 128 cols 256 args 0 [#rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] {
  %0 = rt.load 0 : f32
  %1 = rt.load 1 : f32
  %2 = arith.addf %1, %0 : f32
  %3 = rt.load 2 : f32
  %cst = arith.constant 1.000000e+00 : f32
  %4 = arith.mulf %2, %2 : f32
  %cst_0 = arith.constant 1.59576917 : f32
  %cst_1 = arith.constant 0.0713548139 : f32
  %5 = math.fma %4, %cst_1, %cst_0 : f32
  %cst_2 = arith.constant 0.214064449 : f32
  %6 = math.fma %4, %cst_2, %cst_0 : f32
  %7 = arith.mulf %2, %5 : f32
  %8 = rt.logistic %7 : f32
  %9 = arith.subf %cst, %8 : f32
  %10 = arith.mulf %2, %9 : f32
  %11 = arith.mulf %8, %10 : f32
  %12 = math.fma %11, %6, %8 : f32
  %13 = arith.mulf %3, %12 : f32
  rt.store 3, %13 : f32
  rt.accumulate 4, %13 : f32
}
rt.kernel @f32_11 rows 128 cols 64 args 3 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] {
  %0 = rt.load 0 : f32
  %1 = rt.load 1 : f32
  %2 = rt.load 2 : f32
  %3 = rt.load 3 : f32
  %4 = rt.load 4 : f32
  %5 = arith.subf %1, %3 : f32
  %6 = arith.mulf %5, %4 : f32
  %7 = arith.mulf %0, %2 : f32
  %8 = rt.row_reduce sum %7 : f32
  %cst = arith.constant 1.562500e-02 : f32
  %9 = arith.mulf %8, %cst : f32
  %10 = arith.subf %7, %9 : f32
  %11 = arith.mulf %7, %6 : f32
  %12 = rt.row_reduce sum %11 : f32
  %cst_0 = arith.constant 1.562500e-02 : f32
  %13 = arith.mulf %12, %cst_0 : f32
  %14 = arith.mulf %6, %13 : f32
  %15 = arith.subf %10, %14 : f32
  %16 = arith.mulf %4, %15 : f32
  %17 = arith.subf %1, %3 : f32
  %18 = arith.mulf %17, %4 : f32
  %19 = arith.mulf %0, %18 : f32
  rt.accumulate 5, %19 : f32
  rt.accumulate 6, %0 : f32
  %20 = rt.load 7 : f32
  %21 = arith.addf %20, %16 : f32
  rt.store 8, %21 : f32
  %c32_i32 = arith.constant 32 : i32
  %22 = rt.index row : i32
  %23 = arith.divui %22, %c32_i32 : i32
  %24 = arith.remui %22, %c32_i32 : i32
  %25 = rt.index col : i32
  %c64_i32 = arith.constant 64 : i32
  %26 = arith.muli %24, %c64_i32 : i32
  %27 = arith.addi %26, %25 : i32
  %28 = arith.extui %23 : i32 to i64
  %29 = rt.arg 0 : i64
  %30 = arith.addi %29, %28 : i64
  %31 = rt.arg 1 : i64
  %32 = rt.arg 2 : i64
  %33 = rt.random %31, %30, %32, %27 {site = 2 : i64} : i32
  %c429496729_i32 = arith.constant 429496729 : i32
  %34 = arith.cmpi uge, %33, %c429496729_i32 : i32
  %cst_1 = arith.constant 1.11111116 : f32
  %35 = arith.mulf %21, %cst_1 : f32
  %cst_2 = arith.constant 0.000000e+00 : f32
  %36 = arith.select %34, %35, %cst_2 : f32
  rt.store 9, %36 : f32
  rt.accumulate 10, %36 : f32
}
rt.kernel @f32_12 rows 128 cols 192 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] {
  %0 = rt.load 0 : f32
  rt.accumulate 1, %0 : f32
}
rt.kernel @f32_13 rows 128 cols 64 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
  %0 = rt.load 0 : f32
  %1 = rt.load 1 : f32
  %2 = rt.load 2 : f32
  %3 = rt.load 3 : f32
  %4 = rt.load 4 : f32
  %5 = arith.subf %1, %3 : f32
  %6 = arith.mulf %5, %4 : f32
  %7 = arith.mulf %0, %2 : f32
  %8 = rt.row_reduce sum %7 : f32
  %cst = arith.constant 1.562500e-02 : f32
  %9 = arith.mulf %8, %cst : f32
  %10 = arith.subf %7, %9 : f32
  %11 = arith.mulf %7, %6 : f32
  %12 = rt.row_reduce sum %11 : f32
  %cst_0 = arith.constant 1.562500e-02 : f32
  %13 = arith.mulf %12, %cst_0 : f32
  %14 = arith.mulf %6, %13 : f32
  %15 = arith.subf %10, %14 : f32
  %16 = arith.mulf %4, %15 : f32
  %17 = arith.subf %1, %3 : f32
  %18 = arith.mulf %17, %4 : f32
  %19 = arith.mulf %0, %18 : f32
  rt.accumulate 5, %19 : f32
  rt.accumulate 6, %0 : f32
  %20 = rt.load 7 : f32
  %21 = arith.addf %20, %16 : f32
  rt.store 8, %21 : f32
}
rt.kernel @f32_14 rows 128 cols 64 args 3 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = periodic, element = f32, extent = 32>, #rt.operand<mode = row, element = i32, extent = 0>, #rt.operand<mode = table, element = f32, extent = 256>] {
  %0 = rt.load 0 : f32
  %c32_i32 = arith.constant 32 : i32
  %1 = rt.index row : i32
  %2 = arith.divui %1, %c32_i32 : i32
  %3 = arith.remui %1, %c32_i32 : i32
  %4 = rt.index col : i32
  %c64_i32 = arith.constant 64 : i32
  %5 = arith.muli %3, %c64_i32 : i32
  %6 = arith.addi %5, %4 : i32
  %7 = arith.extui %2 : i32 to i64
  %8 = rt.arg 0 : i64
  %9 = arith.addi %8, %7 : i64
  %10 = rt.arg 1 : i64
  %11 = rt.arg 2 : i64
  %12 = rt.random %10, %9, %11, %6 {site = 0 : i64} : i32
  %c429496729_i32 = arith.constant 429496729 : i32
  %13 = arith.cmpi uge, %12, %c429496729_i32 : i32
  %cst = arith.constant 1.11111116 : f32
  %14 = arith.mulf %0, %cst : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %15 = arith.select %13, %14, %cst_0 : f32
  rt.accumulate 1, %15 : f32
  %16 = rt.load 2 : i32
  rt.scatter_add 3 at %16, %15 : f32
}
rt.kernel @f32_15 rows 128 cols 64 args 0 [#rt.operand<mode = row, element = i32, extent = 0>, #rt.operand<mode = table, element = f32, extent = 256>, #rt.operand<mode = periodic, element = f32, extent = 32>, #rt.operand<mode = full, element = f32, extent = 0>] {
  %0 = rt.load 0 : i32
  %1 = rt.gather 1 at %0 : f32
  %2 = rt.load 2 : f32
  %3 = arith.addf %1, %2 : f32
  rt.store 3, %3 : f32
}
rt.kernel @f32_16 rows 128 cols 64 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
  %0 = rt.load 0 : f32
  %1 = rt.load 1 : f32
  %2 = rt.load 2 : f32
  %3 = rt.row_reduce sum %0 : f32
  %cst = arith.constant 1.562500e-02 : f32
  %4 = arith.mulf %3, %cst : f32
  %5 = arith.subf %0, %4 : f32
  %6 = arith.mulf %5, %5 : f32
  %7 = rt.row_reduce sum %6 : f32
  %cst_0 = arith.constant 1.562500e-02 : f32
  %8 = arith.mulf %7, %cst_0 : f32
  %cst_1 = arith.constant 9.99999974E-6 : f32
  %9 = arith.addf %8, %cst_1 : f32
  %10 = math.sqrt %9 : f32
  %cst_2 = arith.constant 1.000000e+00 : f32
  %11 = arith.divf %cst_2, %10 : f32
  %12 = arith.mulf %5, %11 : f32
  %13 = math.fma %12, %1, %2 : f32
  rt.store 3, %13 : f32
}
rt.kernel @f32_17 rows 128 cols 64 args 0 [#rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
  %0 = rt.load 0 : f32
  %1 = rt.load 1 : f32
  %2 = arith.addf %1, %0 : f32
  %3 = rt.load 2 : f32
  %4 = arith.addf %3, %2 : f32
  rt.store 3, %4 : f32
  %5 = rt.load 4 : f32
  %6 = rt.load 5 : f32
  %7 = rt.row_reduce sum %4 : f32
  %cst = arith.constant 1.562500e-02 : f32
  %8 = arith.mulf %7, %cst : f32
  %9 = arith.subf %4, %8 : f32
  %10 = arith.mulf %9, %9 : f32
  %11 = rt.row_reduce sum %10 : f32
  %cst_0 = arith.constant 1.562500e-02 : f32
  %12 = arith.mulf %11, %cst_0 : f32
  %cst_1 = arith.constant 9.99999974E-6 : f32
  %13 = arith.addf %12, %cst_1 : f32
  %14 = math.sqrt %13 : f32
  %cst_2 = arith.constant 1.000000e+00 : f32
  %15 = arith.divf %cst_2, %14 : f32
  %16 = arith.mulf %9, %15 : f32
  %17 = math.fma %16, %5, %6 : f32
  rt.store 6, %17 : f32
}
rt.kernel @f32_18 rows 128 cols 64 args 0 [#rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
  %0 = rt.load 0 : f32
  %1 = rt.load 1 : f32
  %2 = arith.addf %1, %0 : f32
  %3 = rt.load 2 : f32
  %4 = arith.addf %3, %2 : f32
  rt.store 3, %4 : f32
}
rt.kernel @f32_19 rows 128 cols 256 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = row, element = i32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>] {
  %0 = rt.load 0 : f32
  %1 = rt.index col : i32
  %c250_i32 = arith.constant 250 : i32
  %2 = arith.cmpi slt, %1, %c250_i32 : i32
  %cst = arith.constant 0xFF800000 : f32
  %3 = arith.select %2, %0, %cst : f32
  rt.store 1, %3 : f32
  %4 = rt.row_reduce max %3 : f32
  %5 = arith.subf %3, %4 : f32
  %6 = math.exp %5 : f32
  %7 = rt.row_reduce sum %6 : f32
  %8 = rt.load 2 : i32
  %9 = rt.index col : i32
  %10 = arith.cmpi eq, %9, %8 : i32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %11 = arith.select %10, %3, %cst_0 : f32
  %12 = rt.row_reduce sum %11 : f32
  %13 = math.log %7 : f32
  %14 = arith.addf %13, %4 : f32
  %15 = arith.subf %14, %12 : f32
  %cst_1 = arith.constant 7.812500e-03 : f32
  %16 = arith.mulf %15, %cst_1 : f32
  rt.store 3, %16 : f32
}
