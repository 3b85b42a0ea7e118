//===- step_field.h - fields of the step block that kernels read *- C++ -*-===//
#ifndef MTC_RUNTIME_STEP_FIELD_H
#define MTC_RUNTIME_STEP_FIELD_H

#include "mtc/runtime/abi.h"
#include "mtc/runtime/table.h"

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace mtc {

/// The step's state of a rank, for code that runs on its device.
inline MtcStepState &stepState(const MtcContext *context) {
  return *static_cast<MtcStepState *>(context->arena[MTC_ARENA_STEP]);
}

/// A float of MtcStepBlock.
enum StepField {
  STEP_LR,
  STEP_WEIGHT_DECAY,
  STEP_BETA1,
  STEP_BETA2,
  STEP_ONE_MINUS_BETA1,
  STEP_ONE_MINUS_BETA2,
  STEP_EPS,
  STEP_INV_BIAS1,
  STEP_INV_BIAS2,
  STEP_CLIP_COEFF,
  STEP_FIELD_COUNT
};

struct StepFieldInfo {
  StepField id;
  std::string_view name; ///< in IR
  int64_t offset;        ///< bytes in MtcStepBlock
};

/// By StepField.
inline constexpr StepFieldInfo kStepFields[] = {
    {STEP_LR, "lr", offsetof(MtcStepBlock, lr)},
    {STEP_WEIGHT_DECAY, "weight_decay", offsetof(MtcStepBlock, weight_decay)},
    {STEP_BETA1, "beta1", offsetof(MtcStepBlock, beta1)},
    {STEP_BETA2, "beta2", offsetof(MtcStepBlock, beta2)},
    {STEP_ONE_MINUS_BETA1, "one_minus_beta1",
     offsetof(MtcStepBlock, one_minus_beta1)},
    {STEP_ONE_MINUS_BETA2, "one_minus_beta2",
     offsetof(MtcStepBlock, one_minus_beta2)},
    {STEP_EPS, "eps", offsetof(MtcStepBlock, eps)},
    {STEP_INV_BIAS1, "inv_bias1", offsetof(MtcStepBlock, inv_bias1)},
    {STEP_INV_BIAS2, "inv_bias2", offsetof(MtcStepBlock, inv_bias2)},
    {STEP_CLIP_COEFF, "clip_coeff", offsetof(MtcStepBlock, clip_coeff)},
};
static_assert(std::size(kStepFields) == STEP_FIELD_COUNT &&
              inOrder(kStepFields, STEP_FIELD_COUNT));

} // namespace mtc
#endif // MTC_RUNTIME_STEP_FIELD_H
