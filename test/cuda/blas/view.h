//===- view.h - a matrix in the host's memory -------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_BLAS_VIEW_H
#define MTC_TEST_CUDA_BLAS_VIEW_H

#include "test/cuda/blas/driver_link.h"
#include "test/cuda/blas/elements.h"

#include <vector>

namespace mtc::standin::blas {

/// One product's matrix of a batch, while the operation runs.
class View {
public:
  View() = default;
  View(const Matrix &matrix, int64_t product) : matrix(matrix) {
    const DriverLink *link = DriverLink::get();
    size_t bytes = size_t(matrix.rows) * matrix.elementBytes();
    for (int64_t col = 0; bytes && col < matrix.cols; ++col) {
      CUdeviceptr at = matrix.column(matrix.stride ? product : 0, col);
      columns.push_back(static_cast<std::byte *>(link->bytes(at, bytes)));
    }
  }

  float load(int64_t row, int64_t col) const {
    return loadElement(matrix.type, place(row, col));
  }
  void store(int64_t row, int64_t col, float value) {
    storeElement(matrix.type, place(row, col), value);
  }

private:
  std::byte *place(int64_t row, int64_t col) const {
    return columns[size_t(col)] + size_t(row) * matrix.elementBytes();
  }

  Matrix matrix;
  std::vector<std::byte *> columns;
};

/// A vector, as a matrix of one column.
inline Matrix vectorAt(CUdeviceptr at, int64_t length, int32_t type) {
  Matrix matrix;
  matrix.type = type;
  matrix.rows = matrix.ld = length;
  matrix.cols = 1;
  matrix.at = at;
  return matrix;
}

} // namespace mtc::standin::blas
#endif // MTC_TEST_CUDA_BLAS_VIEW_H
