//===- rates.cpp - learning rate and weight decay over a run --------------===//

#include "runtime/train/rates.h"

#include "runtime/train/curves.h"

#include <algorithm>
#include <cmath>

namespace mtc::runtime {

Rates::Rates(const Recipe &recipe, int64_t samples) : recipe_(recipe) {
  const Recipe &r = recipe;
  auto chosen = [&](int64_t ofSteps, int64_t ofSamples) {
    return static_cast<double>(r.countsSamples() ? ofSamples : ofSteps);
  };
  whole_ = chosen(r.steps, r.samples > 0 ? r.samples : samples);
  decay_ = chosen(r.decay_steps, r.decay_samples);
  if (decay_ == 0)
    decay_ = whole_;
  warmup_ = r.warmup_fraction > 0 ? r.warmup_fraction * decay_
                                  : chosen(r.warmup_steps, r.warmup_samples);
  annealing_ = chosen(r.wsd_decay_steps, r.wsd_decay_samples);
}

double Rates::at(const GlobalBatch &step) const {
  bool atEnd = recipe_.lr_at == "end";
  if (recipe_.countsSamples())
    return static_cast<double>(step.first + (atEnd ? step.samples : 0));
  return static_cast<double>(atEnd ? step.number : step.number - 1);
}

/// The share of the way from the lowest to the highest rate that is left in the
/// last phase of WSD.
double Rates::annealing(double n) const {
  double begin = decay_ - annealing_;
  if (n <= begin)
    return 1;
  double x = (n - begin) / annealing_;
  if (recipe_.wsd_decay == "linear")
    return 1 - x;
  if (recipe_.wsd_decay == "cosine")
    return 0.5 * (1 + cosPi(x));
  if (recipe_.wsd_decay == "minus_sqrt")
    return 1 - std::sqrt(x);
  return 2 * halfToThe(x) - 1;
}

double Rates::learningRate(double n, const RateRange &range) const {
  auto [initial, highest, lowest] = range;
  if (warmup_ > 0 && n <= warmup_)
    return initial + (highest - initial) * n / warmup_;
  if (recipe_.decay == "constant")
    return highest;
  if (n > decay_)
    return lowest;
  if (recipe_.decay == "inverse-square-root")
    return std::max(lowest, highest * std::sqrt(std::max(warmup_, 1.0)) /
                                std::sqrt(std::max(n, 1.0)));
  if (recipe_.decay == "wsd")
    return lowest + (highest - lowest) * annealing(n);
  double length = decay_ - warmup_;
  double x = length > 0 ? std::min(1.0, (n - warmup_) / length) : 1;
  if (recipe_.decay == "linear")
    return highest + (lowest - highest) * x;
  return lowest + (highest - lowest) * (0.5 * (1 + cosPi(x)));
}

double Rates::weightDecay(double n) const {
  double start = recipe_.start_weight_decay, end = recipe_.weight_decay;
  if (recipe_.weight_decay_ramp == "constant" || n >= whole_)
    return end;
  double x = n / whole_;
  if (recipe_.weight_decay_ramp == "cosine")
    x = 0.5 * (1 + cosPi(1 - x));
  return start + (end - start) * x;
}

} // namespace mtc::runtime
