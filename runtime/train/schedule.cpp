//===- schedule.cpp - fills the step block --------------------------------===//

#include "runtime/train/schedule.h"

#include <algorithm>
#include <iterator>

namespace mtc::runtime {

StepSchedule::StepSchedule(const Recipe &recipe, int64_t samples,
                           std::vector<ParamGroup> groups)
    : recipe_(recipe), rates_(recipe, samples), groups_(std::move(groups)) {}

/// Places of no group have the values of all.
void StepSchedule::fillRates(double n, MtcStepBlock &block) const {
  std::fill(std::begin(block.lr), std::end(block.lr),
            static_cast<float>(rates_.learningRate(n)));
  std::fill(std::begin(block.weight_decay), std::end(block.weight_decay),
            static_cast<float>(rates_.weightDecay(n)));
  for (size_t i = 0; i < groups_.size(); ++i) {
    block.lr[i + 1] = static_cast<float>(groups_[i].learningRate(rates_, n));
    block.weight_decay[i + 1] = static_cast<float>(groups_[i].decay(rates_, n));
  }
}

void StepSchedule::fill(const GlobalBatch &step, MtcStepBlock &block) {
  if (step.number < step_) {
    step_ = 0;
    power1_ = power2_ = 1;
  }
  for (; step_ < step.number; ++step_) {
    power1_ *= recipe_.beta1;
    power2_ *= recipe_.beta2;
  }
  block.seed = recipe_.seed;
  block.sample_base = step.first;
  block.step = step.number;
  fillRates(rates_.at(step), block);
  block.beta1 = static_cast<float>(recipe_.beta1);
  block.beta2 = static_cast<float>(recipe_.beta2);
  block.one_minus_beta1 = static_cast<float>(1 - recipe_.beta1);
  block.one_minus_beta2 = static_cast<float>(1 - recipe_.beta2);
  block.eps = static_cast<float>(recipe_.eps);
  block.inv_bias1 = static_cast<float>(1 / (1 - power1_));
  block.inv_bias2 = static_cast<float>(1 / (1 - power2_));
  block.momentum = static_cast<float>(recipe_.momentum);
  block.clip_threshold = static_cast<float>(recipe_.clip);
  block.clip_coeff = 1;
  block.applies = 1;
  block.follows = 0;
  block.loss_scale = 1;
  block.loss = 0;
  block.inv_loss_scale = 1;
  block.grad_norm = 0;
}

} // namespace mtc::runtime
