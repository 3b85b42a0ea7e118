//===- gemm_tuner.h - which algorithms are fastest on a GPU -----*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_GEMM_TUNER_H
#define MTC_RUNTIME_DEVICE_CUDA_GEMM_TUNER_H

#include "runtime/device/cuda/gemm_table.h"
#include "runtime/device/devices.h"

#include <functional>
#include <set>
#include <vector>

namespace mtc::cuda {

/// How much is measured.
struct TuneEffort {
  int algorithms = 8; ///< of a product, the library's first guesses
  int rounds = 5;     ///< the median of which counts; algorithms take turns
};

/// The algorithm whose median of `times` (microseconds, a row of them for each
/// of `algorithms`, of which there is one at least) is the least; the first
/// one, unless another takes less than 0.98 of its time.
TunedGemm fastest(const std::vector<MatmulAlgo> &algorithms,
                  const std::vector<std::vector<double>> &times);

/// Called behind each product.
using TunedOne =
    std::function<void(const runtime::GemmInfo &, const TunedGemm &)>;

/// Times the products that cuBLASLt computes on the GPU of `place`, and chooses
/// the fastest algorithm of each; the first guess, unless another is clearly
/// faster. Errors: infeasible, without driver, library, GPU or memory.
runtime::Status tuneGemms(const std::set<runtime::GemmInfo> &rows,
                          const runtime::GpuPlace &place,
                          const TuneEffort &effort, const TunedOne &told,
                          GemmTable &out);

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_GEMM_TUNER_H
