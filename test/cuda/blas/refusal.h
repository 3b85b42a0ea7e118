//===- refusal.h - a status and why -----------------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_BLAS_REFUSAL_H
#define MTC_TEST_CUDA_BLAS_REFUSAL_H

#include "test/cuda/blas/lt_api.h"
#include "test/cuda/driver/report.h"

#include <optional>
#include <string>

namespace mtc::standin::blas {

/// Not a plain status: what is refused has a reason, and may be a mere answer.
struct Refusal {
  cublasStatus_t status;
  std::string why;
};
using Verdict = std::optional<Refusal>; ///< nothing: it is fine

inline Refusal invalid(std::string why) {
  return {CUBLAS_STATUS_INVALID_VALUE, std::move(why)};
}
inline Refusal unsupported(std::string why) {
  return {CUBLAS_STATUS_NOT_SUPPORTED, std::move(why)};
}

/// One sentence of a report, as the driver's stand-in writes them.
inline void tell(const char *call, const std::string &sentence) {
  report(std::string(call) + ": " + sentence);
}

/// What misuse is answered with: told, and the status.
inline cublasStatus_t refuse(const char *call, const Refusal &refusal) {
  tell(call, refusal.why);
  return refusal.status;
}

} // namespace mtc::standin::blas
#endif // MTC_TEST_CUDA_BLAS_REFUSAL_H
