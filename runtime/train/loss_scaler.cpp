//===- loss_scaler.cpp - keeps small gradients from being 0 ---------------===//

#include "runtime/train/loss_scaler.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace mtc::runtime {

static constexpr double kGrowth = 2, kBackoff = 0.5;

LossScaler::LossScaler(const Recipe &recipe, bool scales)
    : scales_(scales), isConstant_(recipe.loss_scale > 0),
      least_(recipe.min_loss_scale), window_(recipe.loss_scale_window),
      hysteresis_(recipe.hysteresis), state_{isConstant_
                                                 ? recipe.loss_scale
                                                 : recipe.initial_loss_scale,
                                             0, recipe.hysteresis} {
  if (!scales_)
    state_.scale = 1;
}

void LossScaler::resume(const ScalerState &from) {
  if (scales_ && !isConstant_)
    state_ = from;
}

void LossScaler::fill(MtcStepBlock &block) const {
  block.loss_scale = scale();
  block.inv_loss_scale = 1 / static_cast<double>(block.loss_scale);
}

void LossScaler::update(bool finite) {
  bool canFall = !isConstant_ && state_.scale > least_;
  stuck_ = finite || canFall ? 0 : stuck_ + 1;
  if (!scales_ || isConstant_)
    return;
  if (!finite) {
    state_.growthTracker = 0;
    if (--state_.hysteresisTracker <= 0)
      state_.scale = std::max(state_.scale * kBackoff, least_);
    return;
  }
  if (++state_.growthTracker < window_)
    return;
  state_.growthTracker = 0;
  state_.hysteresisTracker = hysteresis_;
  if (state_.scale * kGrowth <= std::numeric_limits<float>::max())
    state_.scale *= kGrowth;
}

std::string LossScaler::stuckText(int64_t step, float loss) const {
  std::string lower =
      isConstant_ ? "give a lower --loss-scale, or none, which is a dynamic one"
                  : "give a lower --min-loss-scale";
  bool isFinite = loss - loss == 0; // NaN and infinities give NaN
  return fmt::format(
      "step {}: the last {} steps were skipped, and the loss scale {} is {}: "
      "nothing is trained until a step is finite; {}",
      step, stuck_, state_.scale, isConstant_ ? "constant" : "the least one",
      isFinite ? lower + ", or compile with --dtype bf16"
               : "the loss itself is not finite, which no scale mends: begin "
                 "with other parameters, or compile with --dtype bf16");
}

std::optional<ScalerState> LossScaler::state() const {
  return scales_ && !isConstant_ ? std::optional(state_) : std::nullopt;
}

} // namespace mtc::runtime
