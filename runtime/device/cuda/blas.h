//===- blas.h - cuBLASLt, loaded at run time --------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_BLAS_H
#define MTC_RUNTIME_DEVICE_CUDA_BLAS_H

#include "runtime/base/status.h"
#include "runtime/device/cuda/blas_api.h"

#include <string>

namespace mtc::cuda {

/// The functions of blas_api.h.
class Blas {
public:
#define X(name, symbol, ...) BlasStatus (*name)(__VA_ARGS__) = nullptr;
  MTC_CUDA_BLAS(X)
#undef X
  const char *(*statusName)(BlasStatus) = nullptr; ///< cublasLtGetStatusName
  size_t (*version)() = nullptr;                   ///< cublasLtGetVersion

  /// Loads libcublasLt.so.13 once for the process; every later call
  /// gives the same. Errors: infeasible, naming what is missing.
  static runtime::Status load(const Blas *&out);

  /// ok, or infeasible: "cublasLtMatmul: CUBLAS_STATUS_NOT_SUPPORTED (what)".
  runtime::Status check(BlasStatus status, const char *call,
                        const std::string &what = "") const;

private:
  runtime::Status open();
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_BLAS_H
