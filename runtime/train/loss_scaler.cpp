//===- loss_scaler.cpp - keeps small gradients from being 0 ---------------===//

#include "runtime/train/loss_scaler.h"

#include "mtc/runtime/update_state.h"

#include <fmt/format.h>

namespace mtc::runtime {

LossScaler::LossScaler(const Recipe &recipe, bool scales)
    : scales_(scales), state_{1, 0, recipe.hysteresis} {
  rule_.least = recipe.min_loss_scale;
  rule_.window = recipe.loss_scale_window;
  rule_.hysteresis = recipe.hysteresis;
  rule_.scales = scales;
  rule_.adapts = recipe.loss_scale <= 0;
  if (scales_)
    state_.scale = isConstant() ? recipe.loss_scale : recipe.initial_loss_scale;
}

void LossScaler::resume(const ScalerState &from) {
  if (scales_ && !isConstant())
    state_ = from;
}

void LossScaler::fill(MtcStepOrder &order) const {
  order.block.loss_scale = scale();
  order.block.inv_loss_scale = inverseScale(scale());
  order.updates.scale = state_.scale;
  order.updates.growth = state_.growthTracker;
  order.updates.hysteresis = state_.hysteresisTracker;
  order.scale_rule = rule_;
}

void LossScaler::update(bool finite) {
  bool canFall = !isConstant() && state_.scale > rule_.least;
  stuck_ = finite || canFall ? 0 : stuck_ + 1;
  moveScale(rule_, finite, state_.scale, state_.growthTracker,
            state_.hysteresisTracker);
}

std::string LossScaler::stuckText(int64_t step, float loss) const {
  std::string lower =
      isConstant()
          ? "give a lower --loss-scale, or none, which is a dynamic one"
          : "give a lower --min-loss-scale";
  bool isFinite = loss - loss == 0; // NaN and infinities give NaN
  return fmt::format(
      "step {}: the last {} steps were skipped, and the loss scale {} is {}: "
      "nothing is trained until a step is finite; {}",
      step, stuck_, state_.scale, isConstant() ? "constant" : "the least one",
      isFinite ? lower + ", or compile with --dtype bf16"
               : "the loss itself is not finite, which no scale mends: begin "
                 "with other parameters, or compile with --dtype bf16");
}

std::optional<ScalerState> LossScaler::state() const {
  return scales_ && !isConstant() ? std::optional(state_) : std::nullopt;
}

} // namespace mtc::runtime
