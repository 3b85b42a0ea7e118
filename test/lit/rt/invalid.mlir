// RUN: mtc-opt %s -split-input-file -verify-diagnostics
// Tests that each branch of the rt verifiers fires.

// expected-error @+1 {{expected rows >= 1 and cols >= 1 or -1, found 0 x 4}}
rt.kernel @k rows 0 cols 4 args 0 [] {
  %c = rt.index col : i32
}
// -----
// expected-error @+1 {{expected 1 row where cols is dynamic, found 2}}
rt.kernel @k rows 2 cols -1 args 0 [] {
  %c = rt.index col : i32
}
// -----
rt.kernel @k rows 2 cols 4 args 0 [] {
  // expected-error @+1 {{expected an operand index below 0, found 0}}
  %x = rt.load 0 : f32
}
// -----
rt.kernel @k rows 2 cols 4 args 0 [#rt.operand<mode = table, element = f32, extent = 8>] {
  // expected-error @+1 {{expected an operand of mode full, row, col, scalar, periodic, found table}}
  %x = rt.load 0 : f32
}
// -----
rt.kernel @k rows 2 cols 4 args 0 [#rt.operand<mode = full, element = f32, extent = 0>] {
  // expected-error @+1 {{expected a value of the operand's type 'f32', found 'i32'}}
  %x = rt.load 0 : i32
}
// -----
rt.kernel @k rows 2 cols 4 args 0 [#rt.operand<mode = col, element = f32, extent = 0>] {
  %x = rt.load 0 : f32
  // expected-error @+1 {{expected an operand of mode full, row, found col}}
  rt.store 0, %x : f32
}
// -----
rt.kernel @k rows 2 cols 4 args 1 [] {
  // expected-error @+1 {{expected an argument index below 1, found 1}}
  %a = rt.arg 1 : i64
}
// -----
rt.kernel @k rows 2 cols 4 args 0 [] {
  // expected-error @+1 {{expected only arith, math and rt ops in a kernel}}
  %a = tfm.fill 0.0 : tensor<f32>
}
// -----
func.func @view_arena() {
  // expected-error @+1 {{expected an arena below 5, found 5}}
  %v = rt.view arena 5 offset 0 pool -1 stride 0 : memref<4xf32>
  return
}
// -----
func.func @view_pool() {
  // expected-error @+1 {{expected a pool in -1..5, found 6}}
  %v = rt.view arena 3 offset 0 pool 6 stride 0 : memref<4xf32>
  return
}
// -----
func.func @launch_results(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected one entry of writes per result (1), found 0}}
  %y = rt.launch @k(%x) args() writes [] : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @gemm_elements(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{expected b of 20 elements, found 'tensor<4x4xf32>'}}
  %y = rt.gemm %x, %x m 4 n 5 k 4 {ta = false, tb = false, beta = false} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x5xf32>
  return
}
// -----
func.func @gemm_a(%x: tensor<4x4xf32>, %y: tensor<3x5xf32>) {
  // expected-error @+1 {{expected a of 12 elements, found 'tensor<4x4xf32>'}}
  %z = rt.gemm %x, %y m 4 n 5 k 3 {ta = false, tb = false, beta = false} : (tensor<4x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return
}
// -----
func.func @gemm_result(%x: tensor<4x3xf32>, %y: tensor<3x5xf32>) {
  // expected-error @+1 {{expected result of 20 elements, found 'tensor<4x4xf32>'}}
  %z = rt.gemm %x, %y m 4 n 5 k 3 {ta = false, tb = false, beta = false} : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x4xf32>
  return
}
// -----
func.func @gemm_c(%x: tensor<4x3xf32>, %y: tensor<3x5xf32>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{expected c of 20 elements, found 'tensor<4x4xf32>'}}
  %z = rt.gemm %x, %y into %c m 4 n 5 k 3 {ta = false, tb = false, beta = false} : (tensor<4x3xf32>, tensor<3x5xf32>, tensor<4x4xf32>) -> tensor<4x5xf32>
  return
}
// -----
func.func @gemm_of_one_type(%x: tensor<4x3xbf16>, %y: tensor<3x5xf32>) {
  // expected-error @+1 {{expected a and b of one element type, found 'tensor<4x3xbf16>' and 'tensor<3x5xf32>'}}
  %z = rt.gemm %x, %y m 4 n 5 k 3 {ta = false, tb = false, beta = false} : (tensor<4x3xbf16>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return
}
// -----
func.func @gemm_narrows_nothing(%x: tensor<4x3xf32>, %y: tensor<3x5xf32>) {
  // expected-error @+1 {{expected the product in f32 or in the operands' type, found 'tensor<4x5xbf16>'}}
  %z = rt.gemm %x, %y m 4 n 5 k 3 {ta = false, tb = false, beta = false} : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xbf16>
  return
}
// -----
func.func @gemm_adds_in_f32(%x: tensor<4x3xbf16>, %y: tensor<3x5xbf16>, %c: tensor<4x5xbf16>) {
  // expected-error @+1 {{expected the product in f32, into which it is added, found 'tensor<4x5xbf16>'}}
  rt.gemm %x, %y into %c m 4 n 5 k 3 {ta = false, tb = false, beta = true} : (tensor<4x3xbf16>, tensor<3x5xbf16>, tensor<4x5xbf16>) -> ()
  return
}
