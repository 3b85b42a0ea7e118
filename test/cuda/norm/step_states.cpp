#include "step_states.h"

#include "norm_values.h"

#include <cmath>

namespace mtc::test {

/// In [0, 1), with all bits of a double.
static double someFraction() {
  return double(uint64_t(someSeed()) >> 11) * 0x1p-53;
}

MtcUpdates someUpdates() {
  MtcUpdates updates{};
  updates.done = int64_t(below(3000));
  updates.power1 = std::pow(0.5 + someFraction() / 2, double(updates.done));
  updates.power2 = std::pow(0.9 + someFraction() / 10, double(updates.done));
  const double scales[] = {1, 3, 0x1p16, 0x1p126, 0x1p127, 0.75};
  updates.scale = scales[below(6)];
  updates.growth = int64_t(below(3));
  updates.hysteresis = int64_t(below(4)) - 1;
  return updates;
}

MtcStepOrder someOrder(const MtcUpdates &updates) {
  MtcStepOrder order{};
  order.updates = updates;
  order.beta1 = someFraction();
  order.beta2 = 1 - someFraction() * 1e-3;
  order.scale_rule = {below(2) ? 1.0 : 0.01, int64_t(1 + below(3)),
                      int64_t(1 + below(3)), int32_t(below(4) != 0),
                      int32_t(below(4) != 0)};
  float next = 1;
  for (MtcRates &rates : order.rates)
    for (int group = 0; group < MTC_PARAM_GROUPS; ++group) {
      rates.lr[group] = next++;
      rates.weight_decay[group] = next++;
    }
  MtcStepBlock &block = order.block;
  block.seed = someSeed();
  block.sample_base = int64_t(below(1000));
  block.step = int64_t(1 + below(1000));
  for (int group = 0; group < MTC_PARAM_GROUPS; ++group) {
    block.lr[group] = next++;
    block.weight_decay[group] = next++;
  }
  for (float *field : {&block.beta1, &block.beta2, &block.one_minus_beta1,
                       &block.one_minus_beta2, &block.eps, &block.inv_bias1,
                       &block.inv_bias2, &block.momentum, &block.clip_threshold,
                       &block.clip_coeff, &block.loss_scale, &block.loss})
    *field = next++;
  block.inv_loss_scale = next++;
  block.grad_norm = next++;
  return order;
}

} // namespace mtc::test
