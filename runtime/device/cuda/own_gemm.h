//===- own_gemm.h - products on a GPU without cuBLASLt ----------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_OWN_GEMM_H
#define MTC_RUNTIME_DEVICE_CUDA_OWN_GEMM_H

#include "runtime/device/cuda/cuda_code.h"
#include "runtime/device/cuda/cuda_gemm.h"

#include <map>
#include <memory>
namespace mtc::cuda {

/// The kernels of runtime/cuda/gemm, whose order of sums is known: a second
/// opinion on cuBLASLt, and for machines without it. Slower, so nobody gets
/// them who did not ask (kGemmVariable).
class OwnGemms {
public:
  explicit OwnGemms(const Driver &driver) : driver_(driver) {}

  /// As CudaGemms::issue; needs no scratch. Errors: infeasible, those of the
  /// driver.
  runtime::Status issue(const runtime::GemmInfo &row, const GemmOperands &x,
                        StreamHandle stream);

private:
  runtime::Status find(const runtime::GemmInfo &row, Function &out);

  const Driver &driver_;
  /// Of a and b of one type: by whether each is transposed.
  struct OfType {
    std::unique_ptr<CudaCode> code;
    Function functions[2][2] = {};
  };
  std::map<MtcDtype, OfType> types_;
};

/// The environment variable that says who multiplies, for developers:
/// "cublaslt", as without it, or "own".
inline constexpr const char *kGemmVariable = "MTC_CUDA_GEMM";

/// Whether kGemmVariable asks for OwnGemms. Errors: usage, for another value.
runtime::Status asksForOwnGemms(bool &out);

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_OWN_GEMM_H
