//===- harness.h - programs that use cublasLt -------------------*- C++ -*-===//
//
// The library is loaded by path and never linked, as a product does it. Each
// program runs in a process of its own (test/cuda/driver/harness.h).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_BLAS_HARNESS_H
#define MTC_TEST_CUDA_BLAS_HARNESS_H

#include "test/cuda/driver/harness.h"

#include <cublasLt.h>

#include <optional>

#define MTC_LT_FUNCTIONS(X)                                                    \
  X(cublasLtCreate)                                                            \
  X(cublasLtDestroy)                                                           \
  X(cublasLtGetVersion)                                                        \
  X(cublasLtGetCudartVersion)                                                  \
  X(cublasLtGetStatusName)                                                     \
  X(cublasLtGetStatusString)                                                   \
  X(cublasLtMatmulDescCreate)                                                  \
  X(cublasLtMatmulDescDestroy)                                                 \
  X(cublasLtMatmulDescSetAttribute)                                            \
  X(cublasLtMatmulDescGetAttribute)                                            \
  X(cublasLtMatrixLayoutCreate)                                                \
  X(cublasLtMatrixLayoutDestroy)                                               \
  X(cublasLtMatrixLayoutSetAttribute)                                          \
  X(cublasLtMatrixLayoutGetAttribute)                                          \
  X(cublasLtMatmulPreferenceCreate)                                            \
  X(cublasLtMatmulPreferenceDestroy)                                           \
  X(cublasLtMatmulPreferenceSetAttribute)                                      \
  X(cublasLtMatmulPreferenceGetAttribute)                                      \
  X(cublasLtMatmulAlgoGetHeuristic)                                            \
  X(cublasLtMatmulAlgoGetIds)                                                  \
  X(cublasLtMatmulAlgoInit)                                                    \
  X(cublasLtMatmulAlgoCheck)                                                   \
  X(cublasLtMatmulAlgoCapGetAttribute)                                         \
  X(cublasLtMatmulAlgoConfigSetAttribute)                                      \
  X(cublasLtMatmulAlgoConfigGetAttribute)                                      \
  X(cublasLtMatmul)

namespace mtc::standin::test {

/// The functions of one library, each as a member of its name.
struct Lt {
#define X(f) decltype(&::f) f = nullptr;
  MTC_LT_FUNCTIONS(X)
#undef X
  /// What is missing; empty: nothing.
  std::string load(const char *path);
};

/// A product: what its descriptors are made of.
struct Shape {
  cudaDataType_t type = CUDA_R_16BF, out = CUDA_R_16BF; ///< of A and B; C and D
  bool transA = false, transB = false;
  int64_t m = 64, n = 32, k = 48;
  int64_t padA = 0, padB = 0, padD = 0; ///< of leading dimensions
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  float alpha = 1, beta = 0;
  int batch = 1;
  bool deviceScalars = false;
  int64_t auxLd = -1; ///< -1: m
  int32_t biasType = -1, auxType = -1;

  int64_t rowsA() const { return transA ? k : m; }
  int64_t colsA() const { return transA ? m : k; }
  int64_t rowsB() const { return transB ? n : k; }
  int64_t colsB() const { return transB ? k : n; }
  bool hasGradient() const;
  bool hasAux() const { return epilogue & 128; }
  int64_t biasLength() const;
  std::string name() const;
};

size_t bytesOf(cudaDataType_t type);

void expect(cublasStatus_t found, cublasStatus_t expected, const char *call,
            int line);

#define MTC_LT_IS(expected, call)                                              \
  ::mtc::standin::test::expect((call), CUBLAS_STATUS_##expected, #call,        \
                               __LINE__)
#define MTC_LT_OK(call) MTC_LT_IS(SUCCESS, call)

/// A device, the library and a handle.
class Blas : public Gpu {
public:
  Blas();

  Lt lt;
  cublasLtHandle_t handle = nullptr;

  /// Device memory with these values in a type, known to the host.
  CUdeviceptr upload(const std::vector<double> &values,
                     cudaDataType_t type) const;
  std::vector<double> download(CUdeviceptr address, size_t count,
                               cudaDataType_t type) const;
};

/// Descriptors, buffers and a workspace of a product. D is C unless `c` is set.
class Operation {
public:
  Operation(const Blas &blas, const Shape &shape);

  const Blas &blas;
  Shape shape;
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t layoutA = nullptr, layoutB = nullptr,
                         layoutC = nullptr, layoutD = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  CUdeviceptr a = 0, b = 0, c = 0, d = 0, bias = 0, aux = 0, scalars = 0;
  CUdeviceptr workspace = 0;
  size_t workspaceBytes = size_t(1) << 20;
  std::vector<cublasLtMatmulHeuristicResult_t> results;

  template <class T>
  cublasStatus_t set(cublasLtMatmulDescAttributes_t id, T value) const {
    return blas.lt.cublasLtMatmulDescSetAttribute(desc, id, &value,
                                                  sizeof value);
  }
  /// A preference.
  template <class T>
  void prefer(cublasLtMatmulPreferenceAttributes_t id, T value) const {
    MTC_LT_OK(blas.lt.cublasLtMatmulPreferenceSetAttribute(
        preference, id, &value, sizeof value));
  }
  /// Buffers of random values, `exact` where sums of products are to have no
  /// error in f32; D, aux and gradients are not written.
  void makeBuffers(uint64_t seed = 1, bool exact = true);
  cublasStatus_t find(int most = 8);
  /// Without an algorithm, or with one of `results`.
  cublasStatus_t go(CUstream stream) const;
  cublasStatus_t go(CUstream stream, const cublasLtMatmulAlgo_t &algo,
                    size_t bytes) const;
  cublasStatus_t check(const cublasLtMatmulAlgo_t &algo,
                       cublasLtMatmulHeuristicResult_t &result) const;
  void destroy();

  /// What the buffers were given, rounded to their types.
  std::vector<double> valuesA, valuesB, valuesC, valuesBias, valuesAux;
  std::vector<double> result(CUstream stream) const; ///< D, padding and all

private:
  cublasStatus_t call(CUstream stream, const cublasLtMatmulAlgo_t *algo,
                      size_t bytes) const;
  cublasLtMatrixLayout_t layout(cudaDataType_t type, int64_t rows, int64_t cols,
                                int64_t pad) const;
};

/// Values of `step` times whole numbers up to `most`: their products are summed
/// without an error in f32. Rounded to `type`.
std::vector<double> wholes(size_t count, uint64_t seed, double step = 0.25,
                           int most = 4);
std::vector<double> uniform(size_t count, uint64_t seed, double scale,
                            cudaDataType_t type);
double roundTo(cudaDataType_t type, double value);

} // namespace mtc::standin::test
#endif // MTC_TEST_CUDA_BLAS_HARNESS_H
