// Tests that code generation rejects what varies inside of a row where one value per
// row is expected.
// RUN: mtc-opt %s --codegen-kernels -split-input-file -verify-diagnostics

rt.kernel @sample rows 8 cols 64 args 1 [#rt.operand<mode = full, element = f32, extent = 0>] {
  %s = rt.arg 0 : i64
  %c = rt.index col : i32
  %w = arith.extui %c : i32 to i64
  // expected-error @+1 {{expected a row-uniform seed, sample and layer, found one that depends on the column}}
  %r = rt.random %s, %w, %s, %c {site = 2 : i64} : i32
  %f = arith.uitofp %r : i32 to f32
  rt.store 0, %f : f32
}

// -----

rt.kernel @table rows 8 cols 64 args 0 [#rt.operand<mode = table, element = f32, extent = 4>, #rt.operand<mode = full, element = f32, extent = 0>] {
  %c = rt.index col : i32
  // expected-error @+1 {{expected a row-uniform index, found one that depends on the column}}
  %f = rt.gather 0 at %c : f32
  rt.store 1, %f : f32
}
