//===- schedule.cpp - fills the step block --------------------------------===//

#include "runtime/train/schedule.h"

#include "mtc/runtime/update_state.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace mtc::runtime {

StepSchedule::StepSchedule(const Recipe &recipe, int64_t samples,
                           std::vector<ParamGroup> groups)
    : recipe_(recipe), rates_(recipe, samples), groups_(std::move(groups)) {}

MtcRates StepSchedule::ratesOf(const GlobalBatch &step) const {
  const double n = rates_.at(step);
  MtcRates rates;
  std::fill(std::begin(rates.lr), std::end(rates.lr),
            static_cast<float>(rates_.learningRate(n)));
  std::fill(std::begin(rates.weight_decay), std::end(rates.weight_decay),
            static_cast<float>(rates_.weightDecay(n)));
  for (size_t i = 0; i < groups_.size(); ++i) {
    rates.lr[i + 1] = static_cast<float>(groups_[i].learningRate(rates_, n));
    rates.weight_decay[i + 1] = static_cast<float>(groups_[i].decay(rates_, n));
  }
  return rates;
}

void StepSchedule::fillUpdates(MtcStepOrder &order) const {
  order.updates.done = updates_;
  order.updates.power1 = power1_;
  order.updates.power2 = power2_;
  order.beta1 = recipe_.beta1;
  order.beta2 = recipe_.beta2;
}

void StepSchedule::fill(const GlobalBatch &step, MtcStepBlock &block) {
  if (step.number <= updates_) {
    updates_ = 0;
    power1_ = power2_ = 1;
  }
  for (; updates_ < step.number - 1; ++updates_) {
    power1_ = nextPower(power1_, recipe_.beta1);
    power2_ = nextPower(power2_, recipe_.beta2);
  }
  block.seed = recipe_.seed;
  block.sample_base = step.first;
  block.step = step.number;
  const MtcRates rates = ratesOf(step);
  std::memcpy(block.lr, rates.lr, sizeof rates.lr);
  std::memcpy(block.weight_decay, rates.weight_decay,
              sizeof rates.weight_decay);
  block.beta1 = static_cast<float>(recipe_.beta1);
  block.beta2 = static_cast<float>(recipe_.beta2);
  block.one_minus_beta1 = static_cast<float>(1 - recipe_.beta1);
  block.one_minus_beta2 = static_cast<float>(1 - recipe_.beta2);
  block.eps = static_cast<float>(recipe_.eps);
  block.inv_bias1 = inverseBias(nextPower(power1_, recipe_.beta1));
  block.inv_bias2 = inverseBias(nextPower(power2_, recipe_.beta2));
  block.momentum = static_cast<float>(recipe_.momentum);
  block.clip_threshold = static_cast<float>(recipe_.clip);
  block.clip_coeff = 1;
  block.applies = 1;
  block.follows = MTC_FOLLOWS_NONE;
  block.loss_scale = 1;
  block.loss = 0;
  block.inv_loss_scale = 1;
  block.grad_norm = 0;
}

} // namespace mtc::runtime
