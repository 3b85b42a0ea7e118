//===- gemm_choices.h - one algorithm of a product on all ranks -*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_GEMM_CHOICES_H
#define MTC_RUNTIME_DEVICE_CUDA_GEMM_CHOICES_H

#include "mtc/runtime/descriptor.h"
#include "runtime/comm/comm.h"
#include "runtime/device/cuda/blas_api.h"

#include <compare>
#include <map>
#include <optional>

namespace mtc::cuda {

/// A product whose operands begin at multiples of so many bytes: a library may
/// have other algorithms for those that begin at less.
struct AlignedGemm {
  runtime::GemmInfo product;
  uint32_t alignment = 0;
  auto operator<=>(const AlignedGemm &) const = default;
};

struct GemmChoice {
  std::optional<MatmulAlgo> algorithm; ///< none: the library has none
  int rank = 0;                        ///< whose choice it is
};

using GemmChoices = std::map<AlignedGemm, GemmChoice>;

/// Who computes the products of a rank: a version as cublasLtGetVersion counts,
/// kernels of our own, or nobody, where it has none.
inline constexpr int32_t kOwnProducts = 0, kNoProducts = -1;

/// Of each product the choice of the lowest rank that has it, on all ranks:
/// those of others are added to a rank's own. An algorithm means something to
/// one version of the library only. Once in all `ranks` ranks; `library` is
/// that of this rank, whose choices come in `choices`. Errors: communication,
/// where two ranks have other libraries, or a call fails.
runtime::Status shareGemmChoices(runtime::Communicator &control, int ranks,
                                 int rank, int32_t library,
                                 GemmChoices &choices);

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_GEMM_CHOICES_H
