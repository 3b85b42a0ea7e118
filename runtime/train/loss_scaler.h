//===- loss_scaler.h - keeps small gradients from being 0 -------*- C++ -*-===//
//
// In fp16 a gradient below 2^-25 would be 0. So the loss is multiplied by a
// scale before its gradient is taken, and gradients are divided by it before
// the update, in fp32. A scale that is too large makes infinities: such a step
// is skipped, and the scale follows the rule of Megatron-LM's
// DynamicGradScaler (Micikevicius et al. 2018 for the idea).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_TRAIN_LOSS_SCALER_H
#define MTC_RUNTIME_TRAIN_LOSS_SCALER_H

#include "mtc/runtime/abi.h"
#include "mtc/runtime/recipe.h"
#include "runtime/checkpoint/run_position.h"

#include <optional>
#include <string>

namespace mtc::runtime {

/// The scale of one step after another. All ranks have the same, as they agree
/// in which steps were finite.
class LossScaler {
public:
  /// `scales`: whether the program's gradients are scaled ones. If they are
  /// not, the scale is 1, and nothing is skipped.
  LossScaler(const Recipe &recipe, bool scales);

  /// Goes on from where another one was. A constant scale stays what it is.
  void resume(const ScalerState &from);
  bool scales() const { return scales_; }
  /// Of the next step.
  float scale() const { return static_cast<float>(state_.scale); }
  /// Writes the scale and its reciprocal, and how it goes on from there.
  void fill(MtcStepOrder &order) const;
  /// After a step: whether all its gradients and its loss were finite. The rule
  /// is moveScale (update_state.h).
  void update(bool finite);
  /// Overflows in a row that no lower scale could follow: it was the least one,
  /// or is constant.
  int64_t stuck() const { return stuck_; }
  /// What to say of these, for people, behind a step with this loss.
  std::string stuckText(int64_t step, float loss) const;
  /// Empty where there is nothing that changes.
  std::optional<ScalerState> state() const;

private:
  bool isConstant() const { return !rule_.adapts; }

  bool scales_;
  MtcScaleRule rule_{};
  ScalerState state_;
  int64_t stuck_ = 0;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_LOSS_SCALER_H
