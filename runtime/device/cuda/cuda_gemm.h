//===- cuda_gemm.h - products on a GPU --------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_CUDA_GEMM_H
#define MTC_RUNTIME_DEVICE_CUDA_CUDA_GEMM_H

#include "mtc/runtime/descriptor.h"
#include "runtime/device/cuda/blas.h"

#include <map>
#include <memory>

namespace mtc::cuda {

/// Operands of mtc_gemm, on the device.
struct GemmOperands {
  const void *a, *b;
  void *c, *scratch;
};

/// Products of a program through cuBLASLt. Its algorithm for a row is chosen
/// when that is called first, from what the planned scratch and the operands'
/// alignment allow.
class CudaGemms {
public:
  CudaGemms();
  CudaGemms(const CudaGemms &) = delete;
  CudaGemms &operator=(const CudaGemms &) = delete;
  ~CudaGemms();

  /// Once, before the first product, with the GPU's context current. Errors:
  /// infeasible, without the library.
  runtime::Status open();
  /// Issues c = op(a)·op(b), plus c with `beta`. Errors: infeasible, without an
  /// algorithm.
  runtime::Status issue(const runtime::GemmInfo &row, const GemmOperands &x,
                        StreamHandle stream);

private:
  class Product;
  runtime::Status find(const runtime::GemmInfo &row, const GemmOperands &x,
                       Product *&out);

  const Blas *blas_ = nullptr;
  BlasHandle handle_ = nullptr;
  /// By row and alignment.
  std::map<std::pair<runtime::GemmInfo, uint32_t>, std::unique_ptr<Product>>
      products_;
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_CUDA_GEMM_H
