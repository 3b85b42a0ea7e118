//===- gemm_case.h - a product in double precision --------------*- C++ -*-===//
//
// Operands of a call as they lie in memory, what must come out, and how far
// each value may be from that. Written from the formula, without the kernels'
// code.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_GEMM_GEMM_CASE_H
#define MTC_TEST_CUDA_GEMM_GEMM_CASE_H

#include "mtc/runtime/abi.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::test {

/// What operands are filled with.
enum class Fill {
  integers, ///< small ones: every sum is exact in fp32
  normal,
};

struct GemmCase {
  MtcDtype ab = MTC_F32, c = MTC_F32;
  bool ta = false, tb = false, beta = false;
  int m = 1, n = 1, k = 1;
  /// Elements behind each stored row of a, b and c, beyond `gap` as many as
  /// make rows multiples of `unit` elements; and elements before the first row.
  int gap = 0, unit = 1, skipped = 0;
  Fill fill = Fill::integers;
  /// The epilogue, of a product that is not added to c.
  bool bias = false, gelu = false, aux = false;

  std::string name() const;
};

/// A matrix as it is stored: rows of `stride` elements, of which the last has
/// no gap behind it.
struct Stored {
  MtcDtype dtype;
  int rows, columns, stride;
  std::vector<std::byte> bytes;

  size_t gapBytes() const { return size_t(stride - columns) * width(); }
  size_t at(int row, int column) const {
    return (size_t(row) * stride + column) * width();
  }
  size_t width() const { return dtype == MTC_F32 ? 4 : 2; }
  double get(int row, int column) const;
  void set(int row, int column, double value);
};

struct GemmData {
  Stored a, b, c;
  Stored bias; ///< a row; aux lies as c
  explicit GemmData(const GemmCase &c);
};

/// What may stand in c behind the call. Bounds of 0 allow nothing else.
struct GemmExpected {
  std::vector<double> value, bound; ///< [m][n]
};
/// In c; and in aux, where there is one.
struct GemmResults {
  GemmExpected c, aux;
};
GemmResults reference(const GemmCase &c, const GemmData &data);

} // namespace mtc::test
#endif // MTC_TEST_CUDA_GEMM_GEMM_CASE_H
