// What a plan of gpt2-nano has (mtc compile gpt2-nano --threads 2 --dtype bf16), but for
// kernels of one row. See team_test.cpp.
rt.kernel @bf16_20 rows 128 cols 64 args 3 [#rt.operand<mode = row, element = i32, extent = 0>, #rt.operand<mode = table, element = bf16, extent = 256>, #rt.operand<mode = periodic, element = bf16, extent = 32>, #rt.operand<mode = full, element = bf16, extent = 0>] {
  %0 = rt.load 0 : i32
  %1 = rt.gather 1 at %0 : bf16
  %2 = arith.extf %1 : bf16 to f32
  %3 = arith.truncf %2 : f32 to bf16
  %4 = rt.load 2 : bf16
  %5 = arith.extf %4 : bf16 to f32
  %6 = arith.truncf %5 : f32 to bf16
  %7 = arith.extf %3 : bf16 to f32
  %8 = arith.extf %6 : bf16 to f32
  %9 = arith.addf %7, %8 : f32
  %10 = arith.truncf %9 : f32 to bf16
  %11 = arith.extf %10 : bf16 to f32
  %c32_i32 = arith.constant 32 : i32
  %12 = rt.index row : i32
  %13 = arith.divui %12, %c32_i32 : i32
  %14 = arith.remui %12, %c32_i32 : i32
  %15 = rt.index col : i32
  %c64_i32 = arith.constant 64 : i32
  %16 = arith.muli %14, %c64_i32 : i32
  %17 = arith.addi %16, %15 : i32
  %18 = arith.extui %13 : i32 to i64
  %19 = rt.arg 0 : i64
  %20 = arith.addi %19, %18 : i64
  %21 = rt.arg 1 : i64
  %22 = rt.arg 2 : i64
  %23 = rt.random %21, %20, %22, %17 {site = 0 : i64} : i32
  %c429496729_i32 = arith.constant 429496729 : i32
  %24 = arith.cmpi uge, %23, %c429496729_i32 : i32
  %cst = arith.constant 1.11111116 : f32
  %25 = arith.mulf %11, %cst : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %26 = arith.select %24, %25, %cst_0 : f32
  %27 = arith.truncf %26 : f32 to bf16
  rt.store 3, %27 : bf16
}
rt.kernel @bf16_21 rows 128 cols 64 args 0 [#rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = col, element = bf16, extent = 0>, #rt.operand<mode = col, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>] {
  %0 = rt.load 0 : bf16
  %1 = arith.extf %0 : bf16 to f32
  %2 = rt.load 1 : bf16
  %3 = arith.extf %2 : bf16 to f32
  %4 = rt.load 2 : bf16
  %5 = arith.extf %4 : bf16 to f32
  %6 = rt.row_reduce sum %1 : f32
  %cst = arith.constant 1.562500e-02 : f32
  %7 = arith.mulf %6, %cst : f32
  %8 = arith.subf %1, %7 : f32
  %9 = arith.mulf %8, %8 : f32
  %10 = rt.row_reduce sum %9 : f32
  %cst_0 = arith.constant 1.562500e-02 : f32
  %11 = arith.mulf %10, %cst_0 : f32
  %cst_1 = arith.constant 9.99999974E-6 : f32
  %12 = arith.addf %11, %cst_1 : f32
  %13 = math.sqrt %12 : f32
  %cst_2 = arith.constant 1.000000e+00 : f32
  %14 = arith.divf %cst_2, %13 : f32
  %15 = arith.mulf %8, %14 : f32
  %16 = math.fma %15, %3, %5 : f32
  %17 = arith.truncf %16 : f32 to bf16
  rt.store 3, %17 : bf16
  rt.store 4, %7 : f32
  rt.store 5, %14 : f32
}
rt.kernel @bf16_22 rows 128 cols 192 args 0 [#rt.operand<mode = col, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>] {
  %0 = rt.load 0 : bf16
  %1 = arith.extf %0 : bf16 to f32
  %2 = arith.truncf %1 : f32 to bf16
  %3 = rt.load 1 : bf16
  %4 = arith.extf %3 : bf16 to f32
  %5 = arith.extf %2 : bf16 to f32
  %6 = arith.addf %4, %5 : f32
  %7 = arith.truncf %6 : f32 to bf16
  rt.store 2, %7 : bf16
}
rt.kernel @bf16_23 rows 128 cols 64 args 3 [#rt.operand<mode = col, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = col, element = bf16, extent = 0>, #rt.operand<mode = col, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>] {
  %0 = rt.load 0 : bf16
  %1 = arith.extf %0 : bf16 to f32
  %2 = arith.truncf %1 : f32 to bf16
  %3 = rt.load 1 : bf16
  %4 = arith.extf %3 : bf16 to f32
  %5 = arith.extf %2 : bf16 to f32
  %6 = arith.addf %4, %5 : f32
  %7 = arith.truncf %6 : f32 to bf16
  %8 = arith.extf %7 : bf16 to f32
  %c32_i32 = arith.constant 32 : i32
  %9 = rt.index row : i32
  %10 = arith.divui %9, %c32_i32 : i32
  %11 = arith.remui %9, %c32_i32 : i32
  %12 = rt.index col : i32
  %c64_i32 = arith.constant 64 : i32
  %13 = arith.muli %11, %c64_i32 : i32
  %14 = arith.addi %13, %12 : i32
  %15 = arith.extui %10 : i32 to i64
  %16 = rt.arg 0 : i64
  %17 = arith.addi %16, %15 : i64
  %18 = rt.arg 1 : i64
  %19 = rt.arg 2 : i64
  %20 = rt.random %18, %17, %19, %14 {site = 2 : i64} : i32
  %c429496729_i32 = arith.constant 429496729 : i32
  %21 = arith.cmpi uge, %20, %c429496729_i32 : i32
  %cst = arith.constant 1.11111116 : f32
  %22 = arith.mulf %8, %cst : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %23 = arith.select %21, %22, %cst_0 : f32
  %24 = arith.truncf %23 : f32 to bf16
  %25 = rt.load 2 : bf16
  %26 = arith.extf %25 : bf16 to f32
  %27 = arith.extf %24 : bf16 to f32
  %28 = arith.addf %26, %27 : f32
  %29 = arith.truncf %28 : f32 to bf16
  rt.store 3, %29 : bf16
  %30 = arith.extf %29 : bf16 to f32
  %31 = rt.load 4 : bf16
  %32 = arith.extf %31 : bf16 to f32
  %33 = rt.load 5 : bf16
  %34 = arith.extf %33 : bf16 to f32
  %35 = rt.row_reduce sum %30 : f32
  %cst_1 = arith.constant 1.562500e-02 : f32
  %36 = arith.mulf %35, %cst_1 : f32
  %37 = arith.subf %30, %36 : f32
  %38 = arith.mulf %37, %37 : f32
  %39 = rt.row_reduce sum %38 : f32
  %cst_2 = arith.constant 1.562500e-02 : f32
  %40 = arith.mulf %39, %cst_2 : f32
  %cst_3 = arith.constant 9.99999974E-6 : f32
  %41 = arith.addf %40, %cst_3 : f32
  %42 = math.sqrt %41 : f32
  %cst_4 = arith.constant 1.000000e+00 : f32
  %43 = arith.divf %cst_4, %42 : f32
  %44 = arith.mulf %37, %43 : f32
  %45 = math.fma %44, %32, %34 : f32
  %46 = arith.truncf %45 : f32 to bf16
  rt.store 6, %46 : bf16
  rt.store 7, %36 : f32
  rt.store 8, %43 : f32
}
rt.kernel @bf16_25 rows 128 cols 64 args 3 [#rt.operand<mode = col, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>] {
  %0 = rt.load 0 : bf16
  %1 = arith.extf %0 : bf16 to f32
  %2 = arith.truncf %1 : f32 to bf16
  %3 = rt.load 1 : bf16
  %4 = arith.extf %3 : bf16 to f32
  %5 = arith.extf %2 : bf16 to f32
  %6 = arith.addf %4, %5 : f32
  %7 = arith.truncf %6 : f32 to bf16
  %8 = arith.extf %7 : bf16 to f32
  %c32_i32 = arith.constant 32 : i32
  %9 = rt.index row : i32
  %10 = arith.divui %9, %c32_i32 : i32
  %11 = arith.remui %9, %c32_i32 : i32
  %12 = rt.index col : i32
  %c64_i32 = arith.constant 64 : i32
  %13 = arith.muli %11, %c64_i32 : i32
  %14 = arith.addi %13, %12 : i32
  %15 = arith.extui %10 : i32 to i64
  %16 = rt.arg 0 : i64
  %17 = arith.addi %16, %15 : i64
  %18 = rt.arg 1 : i64
  %19 = rt.arg 2 : i64
  %20 = rt.random %18, %17, %19, %14 {site = 3 : i64} : i32
  %c429496729_i32 = arith.constant 429496729 : i32
  %21 = arith.cmpi uge, %20, %c429496729_i32 : i32
  %cst = arith.constant 1.11111116 : f32
  %22 = arith.mulf %8, %cst : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %23 = arith.select %21, %22, %cst_0 : f32
  %24 = arith.truncf %23 : f32 to bf16
  %25 = rt.load 2 : bf16
  %26 = arith.extf %25 : bf16 to f32
  %27 = arith.extf %24 : bf16 to f32
  %28 = arith.addf %26, %27 : f32
  %29 = arith.truncf %28 : f32 to bf16
  rt.store 3, %29 : bf16
}
rt.kernel @bf16_26 rows 128 cols 256 args 0 [#rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = row, element = i32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>] {
  %0 = rt.load 0 : bf16
  %1 = arith.extf %0 : bf16 to f32
  %2 = rt.index col : i32
  %c250_i32 = arith.constant 250 : i32
  %3 = arith.cmpi slt, %2, %c250_i32 : i32
  %cst = arith.constant 0xFF800000 : f32
  %4 = arith.select %3, %1, %cst : f32
  %5 = arith.truncf %4 : f32 to bf16
  %6 = arith.extf %5 : bf16 to f32
  %7 = rt.row_reduce max %6 : f32
  rt.store 1, %7 : f32
  %8 = arith.extf %5 : bf16 to f32
  %9 = arith.subf %8, %7 : f32
  %10 = math.exp %9 : f32
  %11 = rt.row_reduce sum %10 : f32
  rt.store 2, %11 : f32
  %12 = arith.extf %5 : bf16 to f32
  %13 = rt.load 3 : i32
  %14 = rt.index col : i32
  %15 = arith.cmpi eq, %14, %13 : i32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %16 = arith.select %15, %12, %cst_0 : f32
  %17 = rt.row_reduce sum %16 : f32
  %18 = math.log %11 : f32
  %19 = arith.addf %18, %7 : f32
  %20 = arith.subf %19, %17 : f32
  %cst_1 = arith.constant 7.812500e-03 : f32
  %21 = arith.mulf %20, %cst_1 : f32
  rt.store 4, %21 : f32
}
rt.kernel @bf16_27 rows 128 cols 256 args 0 [#rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = row, element = i32, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>] {
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
  %8 = rt.load 2 : bf16
  %9 = arith.extf %8 : bf16 to f32
  %10 = rt.index col : i32
  %c250_i32 = arith.constant 250 : i32
  %11 = arith.cmpi slt, %10, %c250_i32 : i32
  %cst_3 = arith.constant 0xFF800000 : f32
  %12 = arith.select %11, %9, %cst_3 : f32
  %13 = arith.truncf %12 : f32 to bf16
  %14 = rt.load 3 : f32
  %15 = arith.extf %13 : bf16 to f32
  %16 = arith.subf %15, %14 : f32
  %17 = math.exp %16 : f32
  %18 = arith.mulf %3, %17 : f32
  %19 = arith.addf %7, %18 : f32
  %20 = arith.truncf %19 : f32 to bf16
  %21 = arith.extf %20 : bf16 to f32
  %22 = rt.index col : i32
  %c250_i32_4 = arith.constant 250 : i32
  %23 = arith.cmpi slt, %22, %c250_i32_4 : i32
  %cst_5 = arith.constant 0.000000e+00 : f32
  %24 = arith.select %23, %21, %cst_5 : f32
  %25 = arith.truncf %24 : f32 to bf16
  rt.store 4, %25 : bf16
}
rt.kernel @bf16_28 rows 128 cols 64 args 0 [#rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = col, element = bf16, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] {
  %0 = rt.load 0 : bf16
  %1 = arith.extf %0 : bf16 to f32
  %2 = rt.load 1 : bf16
  %3 = arith.extf %2 : bf16 to f32
  %4 = rt.load 2 : bf16
  %5 = arith.extf %4 : bf16 to f32
  %6 = rt.load 3 : f32
  %7 = rt.load 4 : f32
  %8 = arith.subf %3, %6 : f32
  %9 = arith.mulf %8, %7 : f32
  %10 = arith.mulf %1, %5 : f32
  %11 = rt.row_reduce sum %10 : f32
  %cst = arith.constant 1.562500e-02 : f32
  %12 = arith.mulf %11, %cst : f32
  %13 = arith.subf %10, %12 : f32
  %14 = arith.mulf %10, %9 : f32
  %15 = rt.row_reduce sum %14 : f32
  %cst_0 = arith.constant 1.562500e-02 : f32
  %16 = arith.mulf %15, %cst_0 : f32
  %17 = arith.mulf %9, %16 : f32
  %18 = arith.subf %13, %17 : f32
  %19 = arith.mulf %7, %18 : f32
  %20 = arith.truncf %19 : f32 to bf16
  rt.store 5, %20 : bf16
  %21 = arith.subf %3, %6 : f32
  %22 = arith.mulf %21, %7 : f32
  %23 = arith.mulf %1, %22 : f32
  rt.accumulate 6, %23 : f32
  rt.accumulate 7, %1 : f32
}
rt.kernel @bf16_29 rows 128 cols 64 args 3 [#rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] {
  %0 = rt.load 0 : bf16
  %1 = arith.extf %0 : bf16 to f32
  %c32_i32 = arith.constant 32 : i32
  %2 = rt.index row : i32
  %3 = arith.divui %2, %c32_i32 : i32
  %4 = arith.remui %2, %c32_i32 : i32
  %5 = rt.index col : i32
  %c64_i32 = arith.constant 64 : i32
  %6 = arith.muli %4, %c64_i32 : i32
  %7 = arith.addi %6, %5 : i32
  %8 = arith.extui %3 : i32 to i64
  %9 = rt.arg 0 : i64
  %10 = arith.addi %9, %8 : i64
  %11 = rt.arg 1 : i64
  %12 = rt.arg 2 : i64
  %13 = rt.random %11, %10, %12, %7 {site = 3 : i64} : i32
  %c429496729_i32 = arith.constant 429496729 : i32
  %14 = arith.cmpi uge, %13, %c429496729_i32 : i32
  %cst = arith.constant 1.11111116 : f32
  %15 = arith.mulf %1, %cst : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %16 = arith.select %14, %15, %cst_0 : f32
  %17 = arith.truncf %16 : f32 to bf16
  rt.store 1, %17 : bf16
  %18 = arith.extf %17 : bf16 to f32
  rt.accumulate 2, %18 : f32
}
rt.kernel @bf16_30 rows 128 cols 256 args 0 [#rt.operand<mode = col, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] {
  %0 = rt.load 0 : bf16
  %1 = arith.extf %0 : bf16 to f32
  %2 = arith.truncf %1 : f32 to bf16
  %3 = rt.load 1 : bf16
  %4 = arith.extf %3 : bf16 to f32
  %5 = arith.extf %2 : bf16 to f32
  %6 = arith.addf %4, %5 : f32
  %7 = arith.truncf %6 : f32 to bf16
  %8 = arith.extf %7 : bf16 to f32
  %9 = rt.load 2 : bf16
  %10 = arith.extf %9 : bf16 to f32
  %cst = arith.constant 1.000000e+00 : f32
  %11 = arith.mulf %8, %8 : f32
  %cst_0 = arith.constant 1.59576917 : f32
  %cst_1 = arith.constant 0.0713548139 : f32
  %12 = math.fma %11, %cst_1, %cst_0 : f32
  %cst_2 = arith.constant 0.214064449 : f32
  %13 = math.fma %11, %cst_2, %cst_0 : f32
  %14 = arith.mulf %8, %12 : f32
  %15 = rt.logistic %14 : f32
  %16 = arith.subf %cst, %15 : f32
  %17 = arith.mulf %8, %16 : f32
  %18 = arith.mulf %15, %17 : f32
  %19 = math.fma %18, %13, %15 : f32
  %20 = arith.mulf %10, %19 : f32
  %21 = arith.truncf %20 : f32 to bf16
  rt.store 3, %21 : bf16
  %22 = arith.extf %21 : bf16 to f32
  rt.accumulate 4, %22 : f32
}
rt.kernel @bf16_31 rows 128 cols 64 args 3 [#rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = col, element = bf16, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] {
  %0 = rt.load 0 : bf16
  %1 = arith.extf %0 : bf16 to f32
  %2 = rt.load 1 : bf16
  %3 = arith.extf %2 : bf16 to f32
  %4 = rt.load 2 : bf16
  %5 = arith.extf %4 : bf16 to f32
  %6 = rt.load 3 : f32
  %7 = rt.load 4 : f32
  %8 = arith.subf %3, %6 : f32
  %9 = arith.mulf %8, %7 : f32
  %10 = arith.mulf %1, %5 : f32
  %11 = rt.row_reduce sum %10 : f32
  %cst = arith.constant 1.562500e-02 : f32
  %12 = arith.mulf %11, %cst : f32
  %13 = arith.subf %10, %12 : f32
  %14 = arith.mulf %10, %9 : f32
  %15 = rt.row_reduce sum %14 : f32
  %cst_0 = arith.constant 1.562500e-02 : f32
  %16 = arith.mulf %15, %cst_0 : f32
  %17 = arith.mulf %9, %16 : f32
  %18 = arith.subf %13, %17 : f32
  %19 = arith.mulf %7, %18 : f32
  %20 = arith.truncf %19 : f32 to bf16
  %21 = arith.subf %3, %6 : f32
  %22 = arith.mulf %21, %7 : f32
  %23 = arith.mulf %1, %22 : f32
  rt.accumulate 5, %23 : f32
  rt.accumulate 6, %1 : f32
  %24 = rt.load 7 : bf16
  %25 = arith.extf %24 : bf16 to f32
  %26 = arith.extf %20 : bf16 to f32
  %27 = arith.addf %25, %26 : f32
  %28 = arith.truncf %27 : f32 to bf16
  rt.store 8, %28 : bf16
  %29 = arith.extf %28 : bf16 to f32
  %c32_i32 = arith.constant 32 : i32
  %30 = rt.index row : i32
  %31 = arith.divui %30, %c32_i32 : i32
  %32 = arith.remui %30, %c32_i32 : i32
  %33 = rt.index col : i32
  %c64_i32 = arith.constant 64 : i32
  %34 = arith.muli %32, %c64_i32 : i32
  %35 = arith.addi %34, %33 : i32
  %36 = arith.extui %31 : i32 to i64
  %37 = rt.arg 0 : i64
  %38 = arith.addi %37, %36 : i64
  %39 = rt.arg 1 : i64
  %40 = rt.arg 2 : i64
  %41 = rt.random %39, %38, %40, %35 {site = 2 : i64} : i32
  %c429496729_i32 = arith.constant 429496729 : i32
  %42 = arith.cmpi uge, %41, %c429496729_i32 : i32
  %cst_1 = arith.constant 1.11111116 : f32
  %43 = arith.mulf %29, %cst_1 : f32
  %cst_2 = arith.constant 0.000000e+00 : f32
  %44 = arith.select %42, %43, %cst_2 : f32
  %45 = arith.truncf %44 : f32 to bf16
  rt.store 9, %45 : bf16
  %46 = arith.extf %45 : bf16 to f32
  rt.accumulate 10, %46 : f32
}
rt.kernel @bf16_32 rows 128 cols 192 args 0 [#rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] {
  %0 = rt.load 0 : bf16
  %1 = arith.extf %0 : bf16 to f32
  rt.accumulate 1, %1 : f32
}
rt.kernel @bf16_33 rows 128 cols 64 args 0 [#rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = col, element = bf16, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>] {
  %0 = rt.load 0 : bf16
  %1 = arith.extf %0 : bf16 to f32
  %2 = rt.load 1 : bf16
  %3 = arith.extf %2 : bf16 to f32
  %4 = rt.load 2 : bf16
  %5 = arith.extf %4 : bf16 to f32
  %6 = rt.load 3 : f32
  %7 = rt.load 4 : f32
  %8 = arith.subf %3, %6 : f32
  %9 = arith.mulf %8, %7 : f32
  %10 = arith.mulf %1, %5 : f32
  %11 = rt.row_reduce sum %10 : f32
  %cst = arith.constant 1.562500e-02 : f32
  %12 = arith.mulf %11, %cst : f32
  %13 = arith.subf %10, %12 : f32
  %14 = arith.mulf %10, %9 : f32
  %15 = rt.row_reduce sum %14 : f32
  %cst_0 = arith.constant 1.562500e-02 : f32
  %16 = arith.mulf %15, %cst_0 : f32
  %17 = arith.mulf %9, %16 : f32
  %18 = arith.subf %13, %17 : f32
  %19 = arith.mulf %7, %18 : f32
  %20 = arith.truncf %19 : f32 to bf16
  %21 = arith.subf %3, %6 : f32
  %22 = arith.mulf %21, %7 : f32
  %23 = arith.mulf %1, %22 : f32
  rt.accumulate 5, %23 : f32
  rt.accumulate 6, %1 : f32
  %24 = rt.load 7 : bf16
  %25 = arith.extf %24 : bf16 to f32
  %26 = arith.extf %20 : bf16 to f32
  %27 = arith.addf %25, %26 : f32
  %28 = arith.truncf %27 : f32 to bf16
  rt.store 8, %28 : bf16
}
rt.kernel @bf16_34 rows 128 cols 64 args 3 [#rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = periodic, element = f32, extent = 32>, #rt.operand<mode = row, element = i32, extent = 0>, #rt.operand<mode = table, element = f32, extent = 256>] {
  %0 = rt.load 0 : bf16
  %1 = arith.extf %0 : bf16 to f32
  %c32_i32 = arith.constant 32 : i32
  %2 = rt.index row : i32
  %3 = arith.divui %2, %c32_i32 : i32
  %4 = arith.remui %2, %c32_i32 : i32
  %5 = rt.index col : i32
  %c64_i32 = arith.constant 64 : i32
  %6 = arith.muli %4, %c64_i32 : i32
  %7 = arith.addi %6, %5 : i32
  %8 = arith.extui %3 : i32 to i64
  %9 = rt.arg 0 : i64
  %10 = arith.addi %9, %8 : i64
  %11 = rt.arg 1 : i64
  %12 = rt.arg 2 : i64
  %13 = rt.random %11, %10, %12, %7 {site = 0 : i64} : i32
  %c429496729_i32 = arith.constant 429496729 : i32
  %14 = arith.cmpi uge, %13, %c429496729_i32 : i32
  %cst = arith.constant 1.11111116 : f32
  %15 = arith.mulf %1, %cst : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %16 = arith.select %14, %15, %cst_0 : f32
  %17 = arith.truncf %16 : f32 to bf16
  %18 = arith.extf %17 : bf16 to f32
  rt.accumulate 1, %18 : f32
  %19 = rt.load 2 : i32
  %20 = arith.extf %17 : bf16 to f32
  rt.scatter_add 3 at %19, %20 : f32
}
rt.kernel @bf16_35 rows 128 cols 64 args 0 [#rt.operand<mode = row, element = i32, extent = 0>, #rt.operand<mode = table, element = bf16, extent = 256>, #rt.operand<mode = periodic, element = bf16, extent = 32>, #rt.operand<mode = full, element = bf16, extent = 0>] {
  %0 = rt.load 0 : i32
  %1 = rt.gather 1 at %0 : bf16
  %2 = arith.extf %1 : bf16 to f32
  %3 = arith.truncf %2 : f32 to bf16
  %4 = rt.load 2 : bf16
  %5 = arith.extf %4 : bf16 to f32
  %6 = arith.truncf %5 : f32 to bf16
  %7 = arith.extf %3 : bf16 to f32
  %8 = arith.extf %6 : bf16 to f32
  %9 = arith.addf %7, %8 : f32
  %10 = arith.truncf %9 : f32 to bf16
  rt.store 3, %10 : bf16
}
rt.kernel @bf16_36 rows 128 cols 64 args 0 [#rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = col, element = bf16, extent = 0>, #rt.operand<mode = col, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>] {
  %0 = rt.load 0 : bf16
  %1 = arith.extf %0 : bf16 to f32
  %2 = rt.load 1 : bf16
  %3 = arith.extf %2 : bf16 to f32
  %4 = rt.load 2 : bf16
  %5 = arith.extf %4 : bf16 to f32
  %6 = rt.row_reduce sum %1 : f32
  %cst = arith.constant 1.562500e-02 : f32
  %7 = arith.mulf %6, %cst : f32
  %8 = arith.subf %1, %7 : f32
  %9 = arith.mulf %8, %8 : f32
  %10 = rt.row_reduce sum %9 : f32
  %cst_0 = arith.constant 1.562500e-02 : f32
  %11 = arith.mulf %10, %cst_0 : f32
  %cst_1 = arith.constant 9.99999974E-6 : f32
  %12 = arith.addf %11, %cst_1 : f32
  %13 = math.sqrt %12 : f32
  %cst_2 = arith.constant 1.000000e+00 : f32
  %14 = arith.divf %cst_2, %13 : f32
  %15 = arith.mulf %8, %14 : f32
  %16 = math.fma %15, %3, %5 : f32
  %17 = arith.truncf %16 : f32 to bf16
  rt.store 3, %17 : bf16
}
rt.kernel @bf16_37 rows 128 cols 64 args 0 [#rt.operand<mode = col, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = col, element = bf16, extent = 0>, #rt.operand<mode = col, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>] {
  %0 = rt.load 0 : bf16
  %1 = arith.extf %0 : bf16 to f32
  %2 = arith.truncf %1 : f32 to bf16
  %3 = rt.load 1 : bf16
  %4 = arith.extf %3 : bf16 to f32
  %5 = arith.extf %2 : bf16 to f32
  %6 = arith.addf %4, %5 : f32
  %7 = arith.truncf %6 : f32 to bf16
  %8 = rt.load 2 : bf16
  %9 = arith.extf %8 : bf16 to f32
  %10 = arith.extf %7 : bf16 to f32
  %11 = arith.addf %9, %10 : f32
  %12 = arith.truncf %11 : f32 to bf16
  rt.store 3, %12 : bf16
  %13 = arith.extf %12 : bf16 to f32
  %14 = rt.load 4 : bf16
  %15 = arith.extf %14 : bf16 to f32
  %16 = rt.load 5 : bf16
  %17 = arith.extf %16 : bf16 to f32
  %18 = rt.row_reduce sum %13 : f32
  %cst = arith.constant 1.562500e-02 : f32
  %19 = arith.mulf %18, %cst : f32
  %20 = arith.subf %13, %19 : f32
  %21 = arith.mulf %20, %20 : f32
  %22 = rt.row_reduce sum %21 : f32
  %cst_0 = arith.constant 1.562500e-02 : f32
  %23 = arith.mulf %22, %cst_0 : f32
  %cst_1 = arith.constant 9.99999974E-6 : f32
  %24 = arith.addf %23, %cst_1 : f32
  %25 = math.sqrt %24 : f32
  %cst_2 = arith.constant 1.000000e+00 : f32
  %26 = arith.divf %cst_2, %25 : f32
  %27 = arith.mulf %20, %26 : f32
  %28 = math.fma %27, %15, %17 : f32
  %29 = arith.truncf %28 : f32 to bf16
  rt.store 6, %29 : bf16
}
rt.kernel @bf16_38 rows 128 cols 64 args 0 [#rt.operand<mode = col, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>] {
  %0 = rt.load 0 : bf16
  %1 = arith.extf %0 : bf16 to f32
  %2 = arith.truncf %1 : f32 to bf16
  %3 = rt.load 1 : bf16
  %4 = arith.extf %3 : bf16 to f32
  %5 = arith.extf %2 : bf16 to f32
  %6 = arith.addf %4, %5 : f32
  %7 = arith.truncf %6 : f32 to bf16
  %8 = rt.load 2 : bf16
  %9 = arith.extf %8 : bf16 to f32
  %10 = arith.extf %7 : bf16 to f32
  %11 = arith.addf %9, %10 : f32
  %12 = arith.truncf %11 : f32 to bf16
  rt.store 3, %12 : bf16
}
rt.kernel @bf16_39 rows 128 cols 256 args 0 [#rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = row, element = i32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>] {
  %0 = rt.load 0 : bf16
  %1 = arith.extf %0 : bf16 to f32
  %2 = rt.index col : i32
  %c250_i32 = arith.constant 250 : i32
  %3 = arith.cmpi slt, %2, %c250_i32 : i32
  %cst = arith.constant 0xFF800000 : f32
  %4 = arith.select %3, %1, %cst : f32
  %5 = arith.truncf %4 : f32 to bf16
  rt.store 1, %5 : bf16
  %6 = arith.extf %5 : bf16 to f32
  %7 = rt.row_reduce max %6 : f32
  %8 = arith.extf %5 : bf16 to f32
  %9 = arith.subf %8, %7 : f32
  %10 = math.exp %9 : f32
  %11 = rt.row_reduce sum %10 : f32
  %12 = arith.extf %5 : bf16 to f32
  %13 = rt.load 2 : i32
  %14 = rt.index col : i32
  %15 = arith.cmpi eq, %14, %13 : i32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %16 = arith.select %15, %12, %cst_0 : f32
  %17 = rt.row_reduce sum %16 : f32
  %18 = math.log %11 : f32
  %19 = arith.addf %18, %7 : f32
  %20 = arith.subf %19, %17 : f32
  %cst_1 = arith.constant 7.812500e-03 : f32
  %21 = arith.mulf %20, %cst_1 : f32
  rt.store 3, %21 : f32
}
