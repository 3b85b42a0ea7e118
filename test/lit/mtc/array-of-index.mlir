// Tests that a dense array of index, on which MLIR's parser crashes, is rejected first.
// RUN: not mtc compile %s -o %t.mtc 2>&1 | FileCheck %s
// CHECK: expected dense arrays of integers or floats, found one of index in line 4
module attributes {mtc.a = array < index: 1>} {}
