//===- norm_rows.h - the kernels' squares of rows ---------------*- C++ -*-===//
//
// Products only have those of their sums, among which a test does not find the
// edges. Built as the kernels are that fill windows.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_UNIT_KERNELS_NORM_ROWS_H
#define MTC_TEST_UNIT_KERNELS_NORM_ROWS_H

#include "runtime/kernels/cpu/norm_window.h"

namespace mtc::test {

/// Values of a row: the vectors of a register block.
inline constexpr int64_t kRowValues = 48;

/// Adds `rows` rows, of register blocks of eight, the last one with what is
/// left. The processor must have the instructions: NormCounter::hasWindows.
void countRows(mtc::runtime::NormWindow &to, const float *at, int64_t rows);

} // namespace mtc::test
#endif // MTC_TEST_UNIT_KERNELS_NORM_ROWS_H
