//===- step_field.h - the fields of the step block --------------*- C++ -*-===//
//
// The one list of what MtcStepBlock holds: who writes a field, who reads it and
// what it means. The enumerators, what rt.step_field may name, the offsets in
// generated code and the checks of plans follow from it, and the layout of the
// struct is held to it below.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_STEP_FIELD_H
#define MTC_RUNTIME_STEP_FIELD_H

#include "mtc/runtime/abi.h"
#include "mtc/runtime/table.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

namespace mtc {

/// The step's state of a rank, for code that runs on its device.
inline MtcStepState &stepState(const MtcContext *context) {
  return *static_cast<MtcStepState *>(context->arena[MTC_ARENA_STEP]);
}

/// Before each step the runtime writes every field; `Norm` is written again, by
/// mtc_norm_finish, and `Step` behind the step, where a device keeps its rows
/// (KeptWalk).
enum class StepWriter { Runtime, Norm, Step };

/// Kernels, by rt.step_field; generated code, as a variable of rt.affine; the
/// functions of the runtime; guarded ops, which look whether to do anything.
enum class StepReader { Kernels, Affine, Runtime, Guards };

// FIELD(enumerator, member and name in IR, writer, reader, meaning), in order.
// clang-format off
#define MTC_STEP_FIELDS(FIELD)                                                 \
  FIELD(SEED, seed, Runtime, Affine, "Philox key")                             \
  FIELD(SAMPLE_BASE, sample_base, Runtime, Affine,                             \
        "absolute id of the first sample of this step")                        \
  FIELD(STEP, step, Runtime, Runtime, "1 for the first step"  )                    \
  FIELD(LR, lr, Runtime, Kernels, "learning rate of this step")                \
  FIELD(WEIGHT_DECAY, weight_decay, Runtime, Kernels, "of this step")          \
  FIELD(BETA1, beta1, Runtime, Kernels, "AdamW")                               \
  FIELD(BETA2, beta2, Runtime, Kernels, "AdamW")                               \
  FIELD(ONE_MINUS_BETA1, one_minus_beta1, Runtime, Kernels, "1 - beta1")       \
  FIELD(ONE_MINUS_BETA2, one_minus_beta2, Runtime, Kernels, "1 - beta2")       \
  FIELD(EPS, eps, Runtime, Kernels, "AdamW")                                   \
  FIELD(INV_BIAS1, inv_bias1, Runtime, Kernels, "1 / (1 - beta1^step)")        \
  FIELD(INV_BIAS2, inv_bias2, Runtime, Kernels, "1 / (1 - beta2^step)")        \
  FIELD(MOMENTUM, momentum, Runtime, Kernels, "SGD")                           \
  FIELD(CLIP_THRESHOLD, clip_threshold, Runtime, Runtime,                      \
        "<= 0: no clipping")                                                   \
  FIELD(CLIP_COEFF, clip_coeff, Norm, Kernels,                                 \
        "what gradients are multiplied by: 1 / loss_scale, or less where the " \
        "norm is clipped")                                                     \
  FIELD(APPLIES, applies, Norm, Guards,                                        \
        "1: the update of this step is done; 0: it is left out")              \
  FIELD(FOLLOWS, follows, Runtime, Runtime,                                    \
        "MtcFollows: what was known of the step before when this was issued")  \
  FIELD(LOSS_SCALE, loss_scale, Runtime, Kernels,                              \
        "what the loss is multiplied by before its gradient is taken, where "  \
        "the plan does that; else 1")                                          \
  FIELD(LOSS, loss, Step, Runtime,                                             \
        "of this step, beside the other results")                              \
  FIELD(INV_LOSS_SCALE, inv_loss_scale, Runtime, Runtime, "1 / loss_scale")    \
  FIELD(GRAD_NORM, grad_norm, Norm, Runtime,                                   \
        "the global norm of gradients, unscaled")
// clang-format on

/// A field of MtcStepBlock.
enum StepField {
#define MTC_FIELD(id, name, writer, reader, meaning) STEP_##id,
  MTC_STEP_FIELDS(MTC_FIELD)
#undef MTC_FIELD
      STEP_FIELD_COUNT
};

struct StepFieldInfo {
  StepField id;
  std::string_view name;
  int64_t offset; ///< in MtcStepBlock
  int64_t bytes;  ///< of one value
  int64_t count;  ///< of values: 1, or one for each group of parameters
  StepWriter writer;
  StepReader reader;
  std::string_view meaning;

  bool isOfGroups() const { return count > 1; }
};

/// By StepField.
inline constexpr StepFieldInfo kStepFields[] = {
#define MTC_FIELD(id, name, writer, reader, meaning)                           \
  {STEP_##id,                                                                  \
   #name,                                                                      \
   offsetof(MtcStepBlock, name),                                               \
   sizeof(std::remove_extent_t<decltype(MtcStepBlock::name)>),                 \
   sizeof(MtcStepBlock::name) /                                                \
       sizeof(std::remove_extent_t<decltype(MtcStepBlock::name)>),             \
   StepWriter::writer,                                                         \
   StepReader::reader,                                                         \
   meaning},
    MTC_STEP_FIELDS(MTC_FIELD)
#undef MTC_FIELD
};

/// Whether the list is the struct: its fields follow each other without a gap
/// but what the size of the next one demands, up to the end.
constexpr bool isWholeStepBlock() {
  int64_t end = 0;
  for (const StepFieldInfo &field : kStepFields) {
    int64_t start = (end + field.bytes - 1) / field.bytes * field.bytes;
    if (field.offset != start)
      return false;
    end = start + field.bytes * field.count;
  }
  return end == sizeof(MtcStepBlock);
}
static_assert(isWholeStepBlock());

/// What kernels read are floats.
#define MTC_FIELD(id, name, writer, reader, meaning)                           \
  static_assert(                                                               \
      StepReader::reader != StepReader::Kernels ||                             \
      std::is_same_v<std::remove_extent_t<decltype(MtcStepBlock::name)>,       \
                     float>);
MTC_STEP_FIELDS(MTC_FIELD)
#undef MTC_FIELD

static_assert(std::size(kStepFields) == STEP_FIELD_COUNT &&
              inOrder(kStepFields, STEP_FIELD_COUNT));

} // namespace mtc
#endif // MTC_RUNTIME_STEP_FIELD_H
