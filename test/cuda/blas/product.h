//===- product.h - a product in a stream ------------------------*- C++ -*-===//
//
// Sums of products are made in f32, k ascending; with a split, part by part,
// and the parts' sums are added as they lie, or in an order drawn by seed and
// run where the reduction scheme is INPLACE, whose atomics a GPU orders anew.
// Tensor cores add 16 products at a time, aligned and truncated, so that an
// H100 has other bits wherever a sum is not exact.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_BLAS_PRODUCT_H
#define MTC_TEST_CUDA_BLAS_PRODUCT_H

#include "test/cuda/blas/problem.h"

namespace mtc::standin::blas {

/// Goes by bytes into an operation.
struct Product {
  Problem problem;
  int32_t split = 1;
  bool drawsOrder = false;
  CUdeviceptr workspace = 0;
  size_t workspaceBytes = 0; ///< that the algorithm needs

  /// C is D, as a whole.
  bool isInPlace() const;
};

/// Puts it into the stream.
CUresult enqueue(const Product &product, CUstream stream,
                 const std::vector<struct Operand> &operands);

} // namespace mtc::standin::blas
#endif // MTC_TEST_CUDA_BLAS_PRODUCT_H
