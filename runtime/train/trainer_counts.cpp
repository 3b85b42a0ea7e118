//===- trainer_counts.cpp - what the host counts of updates ---------------===//
//
// The step block that goes to the device, and what comes back from a device
// that counts by itself: both must say the same.
//
//===----------------------------------------------------------------------===//

#include "runtime/train/trainer.h"

#include "mtc/runtime/update_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace mtc::runtime {

GlobalBatch Trainer::countedBatch(int64_t step) const {
  GlobalBatch batch = batchOf(step);
  return {step - skipped_, batch.first - skippedSamples_, batch.samples};
}

void Trainer::fillOrder(int64_t step, MtcStepOrder &order) {
  // Rates and moments follow the updates that were done, and so does the scale:
  // a step in flight is taken for one. If it turns out to be none, the device
  // corrects the block.
  const GlobalBatch counted = countedBatch(step);
  LossScaler scaler = scaler_;
  if (awaited_)
    scaler.update(true);
  schedule_.fill(counted, order.block);
  schedule_.fillUpdates(order);
  order.block.step = step;
  order.block.sample_base = batchOf(step).first;
  order.block.follows = awaited_ ? MTC_FOLLOWS_STEP : MTC_FOLLOWS_NONE;
  scaler.fill(order);
  static_assert(MTC_MOST_UNKNOWN == 1, "the step that is awaited");
  order.rates[0] = order.rates[1] = schedule_.ratesOf(counted);
  if (awaited_)
    order.rates[1] = schedule_.ratesOf(
        {counted.number - 1, counted.first - batches_.of(awaited_->step),
         counted.samples});
}

Status Trainer::checkRates(const IssuedStep &now) const {
  if (!rank_.countsUpdates())
    return Status::okay();
  const MtcStepBlock &found = result_.block;
  const MtcRates rates = schedule_.ratesOf(countedBatch(now.step));
  if (std::equal(found.lr, std::end(found.lr), rates.lr) &&
      std::equal(found.weight_decay, std::end(found.weight_decay),
                 rates.weight_decay) &&
      found.loss_scale == scaler_.scale())
    return Status::okay();
  return {StatusCode::internal,
          fmt::format("step {}: expected the learning rate {} and the loss "
                      "scale {} on the device, as the host counts, found {} "
                      "and {}",
                      now.step, rates.lr[0], scaler_.scale(), found.lr[0],
                      found.loss_scale)};
}

Status Trainer::checkUpdates(const IssuedStep &now) const {
  if (!rank_.countsUpdates() || now.entry->update.empty())
    return Status::okay();
  MtcStepOrder host{};
  scaler_.fill(host);
  schedule_.fillUpdates(host);
  const MtcUpdates &found = result_.updates;
  const int64_t done = done_ - skipped_;
  if (host.updates.done < done) { // the schedule is at this step
    host.updates.power1 = nextPower(host.updates.power1, host.beta1);
    host.updates.power2 = nextPower(host.updates.power2, host.beta2);
  }
  // Behind a step that was skipped it may be one further.
  bool isPower =
      host.updates.done > done || (found.power1 == host.updates.power1 &&
                                   found.power2 == host.updates.power2);
  if (found.done == done && isPower && found.scale == host.updates.scale &&
      found.growth == host.updates.growth &&
      found.hysteresis == host.updates.hysteresis)
    return Status::okay();
  return {StatusCode::internal,
          fmt::format("step {}: expected {} updates and the loss scale {} on "
                      "the device, as the host counts, found {} and {}",
                      now.step, done, host.updates.scale, found.done,
                      found.scale)};
}

} // namespace mtc::runtime
