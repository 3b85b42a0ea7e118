//===- cuda_attention.h - attention on a GPU --------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_CUDA_ATTENTION_H
#define MTC_RUNTIME_DEVICE_CUDA_CUDA_ATTENTION_H

#include "runtime/cuda/attention/attention_params.h"
#include "runtime/device/cuda/cuda_code.h"
#include "runtime/device/device_calls.h"

#include <array>
#include <map>
#include <memory>
#include <string>

namespace mtc::cuda {

/// The attention kernels of runtime/cuda/attention, each loaded when it is
/// called first.
class CudaAttention {
public:
  explicit CudaAttention(const Driver &driver) : driver_(driver) {}

  /// The chip whose code the GPU runs, "sm_90a"; before `issue`.
  void setChip(std::string chip) { chip_ = std::move(chip); }

  /// Issues the call. `block` lies on the device. Errors: internal, in a
  /// program without the kernels; those of the driver.
  runtime::Status issue(const MtcAttention &shape,
                        const runtime::AttentionOperands &operands,
                        bool backward, const MtcStepBlock *block,
                        StreamHandle stream);

private:
  runtime::Status start(const MtcAttention &shape, AttentionKernel kernel,
                        const AttentionParams &params, StreamHandle stream);
  runtime::Status find(const MtcAttention &shape, AttentionKernel kernel,
                       int sharedBytes, Function &out);
  AttentionForm formOf(const MtcAttention &shape) const;
  std::string entryOf(const MtcAttention &shape, AttentionKernel kernel) const;

  const Driver &driver_;
  std::string chip_;
  /// Kernels of a type and a size of heads, by AttentionKernel.
  struct Instance {
    std::unique_ptr<CudaCode> code;
    std::array<Function, 4> functions{};
  };
  std::map<std::pair<int64_t, int>, Instance> instances_;
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_CUDA_ATTENTION_H
