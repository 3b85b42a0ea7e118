//===- sums.h - sums of products, and of elements ---------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_BLAS_SUMS_H
#define MTC_TEST_CUDA_BLAS_SUMS_H

#include "test/cuda/blas/product.h"
#include "test/cuda/blas/view.h"

#include <vector>

namespace mtc::standin::blas {

/// Operands of one product in f32, rounded to TF32 where it is made of that.
struct Factors {
  std::vector<float> a; ///< op(A): k columns of m
  std::vector<float> b; ///< op(B): n columns of k
};
Factors loadFactors(const Problem &problem, int64_t product);

/// The m x n sums of products, column-major.
std::vector<float> sumProducts(const Product &product, const Factors &factors);

/// For the gradient of a bias: 32 lanes add every 32nd value in f32, then their
/// sums are added in order.
class LaneSum {
public:
  void add(float value) { lanes[count++ % 32] += value; }
  float total() const {
    float sum = 0;
    for (float lane : lanes)
      sum += lane;
    return sum;
  }

private:
  float lanes[32] = {};
  size_t count = 0;
};

} // namespace mtc::standin::blas
#endif // MTC_TEST_CUDA_BLAS_SUMS_H
