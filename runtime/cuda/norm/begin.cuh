//===- begin.cuh - what a step begins with ----------------------*- C++ -*-===//
//
// The arithmetic of StepSchedule and LossScaler (runtime/train), to the bit.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_NORM_BEGIN_CUH
#define MTC_RUNTIME_CUDA_NORM_BEGIN_CUH

#include "mtc/runtime/update_state.h"
#include "runtime/cuda/norm/exact_sum.cuh"

namespace mtc::cuda {

MTC_DEVICE void copyBlock(MtcStepState &state) {
  static_assert(sizeof(MtcStepBlock) % sizeof(uint32_t) == 0);
  auto *from = reinterpret_cast<const uint32_t *>(&state.order.block);
  auto *to = reinterpret_cast<uint32_t *>(&state.block);
  for (unsigned i = threadIdx.x; i < sizeof(MtcStepBlock) / sizeof(uint32_t);
       i += blockDim.x)
    to[i] = from[i];
}

/// Of a step that follows one: what depends on the updates that were done. The
/// host took all steps that it had issued for updated.
MTC_DEVICE void setRates(MtcStepState &state) {
  MtcStepBlock &block = state.block;
  const MtcStepOrder &order = state.order;
  const MtcUpdates &updates = state.updates;
  int64_t missing = order.updates.done - updates.done;
  // Behind a step that stops it does not matter.
  const MtcRates &rates =
      order.rates[missing > 0 ? (missing < MTC_MOST_UNKNOWN ? missing
                                                            : MTC_MOST_UNKNOWN)
                              : 0];
  unsigned i = threadIdx.x;
  if (i < MTC_PARAM_GROUPS) {
    block.lr[i] = rates.lr[i];
    block.weight_decay[i] = rates.weight_decay[i];
  }
  if (i != 0)
    return;
  block.inv_bias1 = inverseBias(nextPower(updates.power1, order.beta1));
  block.inv_bias2 = inverseBias(nextPower(updates.power2, order.beta2));
  block.loss_scale = float(updates.scale);
  block.inv_loss_scale = inverseScale(block.loss_scale);
}

/// By one block of kNormThreads threads.
MTC_DEVICE void begin(MtcStepState &state) {
  copyBlock(state);
  if (threadIdx.x == 0)
    state.repeats = 0;
  __syncthreads();
  if (state.order.block.follows == MTC_FOLLOWS_STEP)
    return setRates(state);
  if (state.order.block.follows == MTC_FOLLOWS_NONE && threadIdx.x == 0) {
    // The host has dealt with the step before.
    state.updates = state.order.updates;
    state.skipped = 0;
  }
}

/// `count` words, by all threads.
MTC_DEVICE void take(uint32_t *to, const uint32_t *from, int64_t count) {
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += int64_t(gridDim.x) * blockDim.x)
    to[i] = from[i];
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_NORM_BEGIN_CUH
