//===- reference.h - a product in double precision --------------*- C++ -*-===//
//
// Written from the header's formulas and the recorded roundings, not from the
// stand-in: every value in double, no type narrower but where it is said.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_BLAS_REFERENCE_H
#define MTC_TEST_CUDA_BLAS_REFERENCE_H

#include "test/cuda/blas/harness.h"

namespace mtc::standin::test {

double geluTanh(double x);
double geluErf(double x);
double geluTanhSlope(double x);

/// Of one element of D, in exact arithmetic from the buffers' values.
struct Element {
  double sum = 0;       ///< of products
  double magnitude = 0; ///< of their absolute values
  double old = 0;       ///< of C
  double bias = 0;
  double aux = 0; ///< that is read
};
Element elementOf(const Operation &operation, int64_t i, int64_t j,
                  int product = 0);
/// Of op(A) (BGRADA) or op(B), summed over k; `magnitude` as above.
Element inputSum(const Operation &operation, int64_t k);

} // namespace mtc::standin::test
#endif // MTC_TEST_CUDA_BLAS_REFERENCE_H
