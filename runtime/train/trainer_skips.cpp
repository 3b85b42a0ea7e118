//===- trainer_skips.cpp - steps that update nothing ----------------------===//
//
// One whose scaled gradients are not finite is skipped, and training goes on;
// one that no scale helps ends training. Either way nothing has changed but the
// scale. Where the next step was issued meanwhile it has added to the
// gradients: who wants to look at those of this one computes them again.
//
//===----------------------------------------------------------------------===//

#include "runtime/train/trainer.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace mtc::runtime {
namespace {

/// Steps in a row that are skipped at the least loss scale until that is said:
/// an overflow of a batch or two is none of the run's.
constexpr int64_t kStuckSteps = 10;

} // namespace

Status Trainer::skipUpdate(const IssuedStep &now, IssuedStep *next) {
  MTC_RETURN_IF_ERROR(endRowsOfSkipped(now));
  bool ends = false;
  MTC_RETURN_IF_ERROR(lookAtParameters(now, next, ends));
  if (ends)
    return Status::okay();
  // A device has cleared them where a step follows.
  if (!next) {
    MTC_RETURN_IF_ERROR(rank_.dropGradients());
    MTC_RETURN_IF_ERROR(rank_.complete());
  }
  scaler_.update(false);
  countDone(now);
  ++skipped_;
  skippedSamples_ += batches_.of(now.step);
  warnOfSkips(now.step);
  return checkUpdates(now);
}

Status Trainer::endRowsOfSkipped(const IssuedStep &now) {
  if (now.isWhole())
    return Status::okay();
  // What others end, these may have begun.
  const EntryInfo &entry = *now.entry;
  TokenLoader &loader = of(now.step).loader;
  int64_t apply = entry.update[1];
  MTC_RETURN_IF_ERROR(rank_.walk(entry, now.rows, apply, loader));
  MTC_RETURN_IF_ERROR(rank_.walk(entry, apply + 1, entry.length, loader));
  return rank_.complete();
}

Status Trainer::lookAtParameters(const IssuedStep &now, IssuedStep *next,
                                 bool &ends) {
  ends = false;
  if (std::exchange(lookedAtParameters_, true))
    return Status::okay();
  if (next) {
    MTC_RETURN_IF_ERROR(readResult(*next));
    if (next->result->isApplied())
      return Status::okay();
  }
  NotFinite found;
  MTC_RETURN_IF_ERROR(findNotFinite(rank_, result_.loss, found));
  if (found.parameter.empty())
    return Status::okay();
  ends = true;
  if (next) {
    MTC_RETURN_IF_ERROR(computeAgain(now));
    MTC_RETURN_IF_ERROR(findNotFinite(rank_, result_.loss, found));
  }
  return endWith(now.step, found);
}

void Trainer::warnOfSkips(int64_t step) const {
  if (rank_.logs() && scaler_.stuck() == kStuckSteps)
    std::fprintf(stderr, "warning: %s\n",
                 scaler_.stuckText(step, result_.loss).c_str());
}

Status Trainer::endNotFinite(int64_t step) {
  NotFinite found;
  MTC_RETURN_IF_ERROR(findNotFinite(rank_, result_.loss, found));
  return endWith(step, found);
}

Status Trainer::endTooLarge(int64_t step) {
  NotFinite found;
  MTC_RETURN_IF_ERROR(findNotFinite(rank_, result_.loss, found));
  found.what = kSquares;
  found.help = fmt::format("; their norm is {:.3g}, too large to be squared: "
                           "clip them (clip), take a lower learning rate, or "
                           "begin with other parameters",
                           result_.gradNorm);
  return endWith(step, found);
}

Status Trainer::endWith(int64_t step, const NotFinite &found) {
  if (rank_.logs())
    report(step, &found);
  end_ = {StatusCode::nonFinite, found.text(step)};
  return Status::okay();
}

Status Trainer::computeAgain(const IssuedStep &now) {
  StepResult ofNobody;
  MTC_RETURN_IF_ERROR(rank_.dropGradients());
  MtcStepOrder order = now.order;
  order.block = now.result->block; // the scale is the one that it had
  order.block.follows = MTC_FOLLOWS_TWIN;
  LeavesInputs inputs;
  MTC_RETURN_IF_ERROR(rank_.beginStep(order));
  MTC_RETURN_IF_ERROR(rank_.walk(*now.entry, 0, now.rows, inputs));
  MTC_RETURN_IF_ERROR(rank_.endStep());
  return rank_.readResult(ofNobody);
}

} // namespace mtc::runtime
