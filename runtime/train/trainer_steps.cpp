//===- trainer_steps.cpp - steps of training ------------------------------===//
//
// From above: the loop, which issues a step while at most one other is awaited;
// how a step is issued; how it is awaited, and what comes behind it. What the
// order of a step says is in trainer_counts.cpp, what becomes of a step that
// updates nothing in trainer_skips.cpp, what steps took in trainer_traces.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/train/trainer.h"

#include <chrono>
#include <utility>

namespace mtc::runtime {
namespace {

/// The step block back, with the loss.
constexpr int64_t kCopiesOfResults = 1;

} // namespace

Status Trainer::train() {
  for (int64_t step = job_.startStep() + 1; step <= job_.recipe.steps; ++step) {
    bool runs = false;
    MTC_RETURN_IF_ERROR(begin(step, runs));
    if (!runs)
      return await();
    IssuedStep issued;
    MTC_RETURN_IF_ERROR(issue(step, issued));
    MTC_RETURN_IF_ERROR(await(&issued));
    if (done_ < step - 1)
      return Status::okay();
    awaited_ = issued;
    if (isReadLater(step))
      continue;
    MTC_RETURN_IF_ERROR(await());
    if (done_ < step)
      return Status::okay();
  }
  return Status::okay();
}

bool Trainer::isReadLater(int64_t step) const {
  const EntryInfo &entry = *awaited_->entry;
  return step < job_.recipe.steps && !entry.update.empty() &&
         awaited_->isWhole() && rank_.isKept(entry, 0, entry.length) &&
         !isTraced(step) && !isTraced(step + 1) && step != hostTracedBehind() &&
         !dumps("grads", step + 1) && !dumps("params", step) &&
         !checkpoints_.due(step) &&
         !job_.evaluation.due(step, job_.recipe.steps);
}

Status Trainer::issue(int64_t step, IssuedStep &out) {
  // In memory, unless reading ahead failed: never the samples of another step.
  OfLength &own = of(step);
  MTC_RETURN_IF_ERROR(own.loader.turnTo(batchOf(step)));
  out = {};
  out.step = step;
  out.entry = own.train.at(batches_.of(step));
  out.trace = beginTrace(step);
  out.began = std::chrono::steady_clock::now();
  if (job_.profile.isWanted())
    rank_.profileTo(&profile_);
  int64_t begin = traceNow();
  fillOrder(step, out.order);
  MTC_RETURN_IF_ERROR(rank_.beginStep(out.order));
  out.rows = rowsBeforeResult(step, *out.entry);
  int64_t begun = traceNow();
  rank_.noteIssue(&out.host);
  Status walked = rank_.walk(*out.entry, 0, out.rows, own.loader);
  rank_.noteIssue(nullptr);
  MTC_RETURN_IF_ERROR(walked);
  int64_t end = traceNow();
  MTC_RETURN_IF_ERROR(rank_.endStep());
  out.host.block = begun - begin;
  out.host.results = traceNow() - end;
  out.host.copies += kCopiesOfResults;
  return Status::okay();
}

int64_t Trainer::rowsBeforeResult(int64_t step, const EntryInfo &entry) const {
  if (entry.update.empty() || (rank_.keepsWalks() && !dumps("grads", step)))
    return entry.length;
  return entry.update[0] + 1;
}

Status Trainer::await(IssuedStep *next) {
  if (!awaited_)
    return Status::okay();
  IssuedStep now = *std::exchange(awaited_, std::nullopt);
  started_ = now.began;
  MTC_RETURN_IF_ERROR(readResult(now));
  result_ = *now.result;
  MTC_RETURN_IF_ERROR(finishStep(now, next));
  if (now.trace)
    rank_.traceTo(nullptr);
  if (done_ < now.step) {
    // A step that was not finite ends the run on all ranks, without a trace.
    signals_.gate.close(); // for a launcher that looks
    return Status::okay();
  }
  MTC_RETURN_IF_ERROR(takeTimes(now));
  if (next)
    next->began = now.ended;
  return behind(now.step);
}

Status Trainer::readResult(IssuedStep &of) {
  if (of.result)
    return Status::okay();
  MTC_RETURN_IF_ERROR(rank_.readResult(of.result.emplace()));
  of.ended = std::chrono::steady_clock::now();
  return Status::okay();
}

Status Trainer::finishStep(const IssuedStep &now, IssuedStep *next) {
  // On all ranks: the norm is of all gradients, and takes the loss in.
  bool finite = result_.isFinite();
  bool skips = !finite && scaler_.scales() && !now.entry->update.empty();
  MTC_RETURN_IF_ERROR(checkRates(now));
  if (next && !result_.isApplied() && !skips) {
    MTC_RETURN_IF_ERROR(readResult(*next));
    MTC_RETURN_IF_ERROR(computeAgain(now));
  }
  if (!finite && !skips)
    return endNotFinite(now.step);
  if (finite && !result_.applies)
    return endTooLarge(now.step);
  MTC_RETURN_IF_ERROR(dump("grads", now.step));
  if (skips)
    return skipUpdate(now, next);
  if (!now.isWhole()) {
    MTC_RETURN_IF_ERROR(rank_.walk(*now.entry, now.rows, now.entry->length,
                                   of(now.step).loader));
    MTC_RETURN_IF_ERROR(rank_.complete());
  }
  scaler_.update(true);
  lookedAtParameters_ = false;
  countDone(now);
  return checkUpdates(now);
}

void Trainer::countDone(const IssuedStep &now) {
  const int64_t step = now.step;
  std::chrono::duration<double> read = now.ended - now.began;
  seconds_ = now.isWhole() ? read.count() : sinceStart();
  tokens_ += batches_.of(step) * seqOf(step);
  done_ = step;
}

Status Trainer::behind(int64_t step) {
  if (rank_.logs())
    report(step);
  if (job_.evaluation.due(step, job_.recipe.steps))
    MTC_RETURN_IF_ERROR(evaluateBehind(step));
  MTC_RETURN_IF_ERROR(dump("params", step));
  if (checkpoints_.due(step))
    MTC_RETURN_IF_ERROR(checkpoints_.saveAndGoOn(position()));
  return Status::okay();
}

double Trainer::sinceStart() const {
  std::chrono::duration<double> time =
      std::chrono::steady_clock::now() - started_;
  return time.count();
}

void Trainer::report(int64_t step, const NotFinite *failed) {
  StepFacts facts;
  facts.step = step;
  facts.loss = result_.loss;
  facts.gradNorm = result_.gradNorm;
  facts.lr = result_.block.lr[0];
  facts.seq = seqOf(step);
  facts.samples = batches_.of(step);
  facts.allSamples = batches_.firstSample(step + 1);
  // Of this step, too, though it may have failed.
  facts.allTokens = position().tokens;
  if (failed)
    facts.allTokens += facts.samples * facts.seq;
  facts.seconds = failed ? sinceStart() : seconds_;
  if (!failed && job_.report.timing > 0)
    facts.times = &timesOverRanks_;
  if (scaler_.scales()) {
    facts.lossScale = result_.block.loss_scale;
    facts.skippedSteps = skipped_;
  }
  if (failed) {
    facts.notFinite = failed->what;
    facts.badParameter = failed->parameter;
  }
  report_.step(facts);
}

} // namespace mtc::runtime
