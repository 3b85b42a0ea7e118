//===- problem.h - one product, as its descriptors say it -------*- C++ -*-===//
//
// D = epilogue(alpha op(A) op(B) + beta C), op(A) m x k, op(B) k x n, D and C
// m x n, all column-major. Which combinations are taken is what an H100
// answered (test/golden/cuda/lt.json); what nobody asked it is refused.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_BLAS_PROBLEM_H
#define MTC_TEST_CUDA_BLAS_PROBLEM_H

#include "test/cuda/blas/library.h"

#include <cuda.h>

namespace mtc::standin::blas {

/// Everything here goes by bytes into an operation of a stream: no owners.
struct Matrix {
  int32_t type = CUDA_R_32F;
  int64_t rows = 0, cols = 0, ld = 0; ///< elements
  int64_t batch = 1, stride = 0;      ///< elements between products
  CUdeviceptr at = 0;

  size_t elementBytes() const { return type == CUDA_R_32F ? 4 : 2; }
  /// Where a column of a product of the batch begins.
  CUdeviceptr column(int64_t product, int64_t col) const {
    return at + CUdeviceptr(product * stride + col * ld) * elementBytes();
  }
};

/// What algorithms differ in: one of a family does not run another's epilogue.
enum class Family : uint32_t { plain, aux, dgelu, dgeluSum, sumOfInput };

struct Problem {
  Matrix a, b, c, d;
  bool transA = false, transB = false;
  int64_t m = 0, n = 0, k = 0;
  int32_t compute = CUBLAS_COMPUTE_32F;
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  CUdeviceptr bias = 0; ///< or the bias gradient
  Matrix aux;           ///< of m x n
  bool deviceScalars = false;
  float alpha = 1, beta = 0;
  CUdeviceptr alphaAt = 0, betaAt = 0;

  Family family() const;
  bool hasBias() const { return epilogue & CUBLASLT_EPILOGUE_BIAS; }
  bool hasGelu() const { return epilogue & CUBLASLT_EPILOGUE_GELU; }
  bool hasAux() const { return epilogue & 128; }
  bool isDgelu() const { return hasAux() && !hasGelu(); }
  /// Elements of the bias gradient; 0: there is none.
  int64_t gradientLength() const;
  bool readsC() const { return deviceScalars || beta != 0; }
  bool isTf32() const {
    return a.type == CUDA_R_32F && compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  }
  /// Operands in 16 bits, or in TF32.
  bool onTensorCores() const { return a.type != CUDA_R_32F || isTf32(); }
};

/// What the descriptors say; scalars and pointers to matrices are left as they
/// are. `c` may be null: then C is as D.
Verdict describe(const MatmulDesc &desc, const Layout *a, const Layout *b,
                 const Layout *c, const Layout *d, Problem &problem);

} // namespace mtc::standin::blas
#endif // MTC_TEST_CUDA_BLAS_PROBLEM_H
