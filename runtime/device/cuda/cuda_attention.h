//===- cuda_attention.h - attention on a GPU --------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_CUDA_ATTENTION_H
#define MTC_RUNTIME_DEVICE_CUDA_CUDA_ATTENTION_H

#include "runtime/cuda/attention/attention_params.h"
#include "runtime/device/cuda/cuda_code.h"
#include "runtime/device/device_calls.h"

#include <map>
#include <memory>

namespace mtc::cuda {

/// The attention kernels of runtime/cuda/attention, each loaded when it is
/// called first.
class CudaAttention {
public:
  explicit CudaAttention(const Driver &driver) : driver_(driver) {}

  /// Issues the call. `block` lies on the device. Errors: infeasible, without a
  /// kernel for the type and the size of a head; those of the driver.
  runtime::Status issue(const MtcAttention &shape,
                        const runtime::AttentionOperands &operands,
                        bool backward, const MtcStepBlock *block,
                        StreamHandle stream);

private:
  runtime::Status start(const MtcAttention &shape, AttentionKernel kernel,
                        const AttentionParams &params, StreamHandle stream);
  /// The module of a type and a head's size, "bf16_d32".
  runtime::Status module(const std::string &instance, const CudaCode *&out);

  const Driver &driver_;
  std::map<std::string, std::unique_ptr<CudaCode>> modules_;
  std::map<std::string, Function> functions_;
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_CUDA_ATTENTION_H
