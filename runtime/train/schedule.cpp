//===- schedule.cpp - fills the step block --------------------------------===//

#include "runtime/train/schedule.h"

#include <algorithm>

namespace mtc::runtime {

double cosPi(double x) {
  if (x > 0.5)
    return -cosPi(1 - x);
  // Taylor series to the 22nd power by Horner's rule; for |t| <= pi/2 the next
  // term is below 1e-19.
  constexpr double pi = 3.14159265358979323846;
  double t2 = (pi * x) * (pi * x);
  double sum = 1;
  for (int n = 22; n >= 2; n -= 2)
    sum = 1 - t2 / (n * (n - 1)) * sum;
  return sum;
}

double learningRate(const Recipe &r, int64_t step) {
  if (step <= r.warmup_steps)
    return r.lr * static_cast<double>(step) /
           static_cast<double>(r.warmup_steps);
  int64_t length =
      (r.decay_steps > 0 ? r.decay_steps : r.steps) - r.warmup_steps;
  double x = 1;
  if (length > 0)
    x = std::min(1.0, static_cast<double>(step - r.warmup_steps) /
                          static_cast<double>(length));
  if (r.decay == "linear")
    return r.lr + (r.min_lr - r.lr) * x;
  if (r.decay == "cosine")
    return r.min_lr + (r.lr - r.min_lr) * (0.5 * (1 + cosPi(x)));
  return r.lr;
}

StepSchedule::StepSchedule(const Recipe &recipe) : recipe_(recipe) {}

void StepSchedule::fill(int64_t step, int64_t firstSample,
                        MtcStepBlock &block) {
  if (step < step_) {
    step_ = 0;
    power1_ = power2_ = 1;
  }
  for (; step_ < step; ++step_) {
    power1_ *= recipe_.beta1;
    power2_ *= recipe_.beta2;
  }
  block.seed = recipe_.seed;
  block.sample_base = firstSample;
  block.step = step;
  block.lr = static_cast<float>(learningRate(recipe_, step));
  block.weight_decay = static_cast<float>(recipe_.weight_decay);
  block.beta1 = static_cast<float>(recipe_.beta1);
  block.beta2 = static_cast<float>(recipe_.beta2);
  block.one_minus_beta1 = static_cast<float>(1 - recipe_.beta1);
  block.one_minus_beta2 = static_cast<float>(1 - recipe_.beta2);
  block.eps = static_cast<float>(recipe_.eps);
  block.inv_bias1 = static_cast<float>(1 / (1 - power1_));
  block.inv_bias2 = static_cast<float>(1 / (1 - power2_));
  block.clip_threshold = static_cast<float>(recipe_.clip);
  block.clip_coeff = 1;
  block.zero = 0;
  block.loss_scale = 1;
  block.inv_loss_scale = 1;
  block.grad_norm = 0;
}

} // namespace mtc::runtime
