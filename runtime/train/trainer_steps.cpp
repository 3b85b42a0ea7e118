//===- trainer_steps.cpp - steps of training ------------------------------===//

#include "runtime/train/trainer.h"

#include "mtc/runtime/update_state.h"
#include "runtime/train/profile_file.h"
#include "runtime/train/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

namespace mtc::runtime {
namespace {

/// Steps in a row that are skipped at the least loss scale until that is said:
/// an overflow of a batch or two is none of the run's.
constexpr int64_t kStuckSteps = 10;

/// Steps behind the last that is traced in which the host is timed. Of the
/// first ones rows may be issued one by one, and be kept.
constexpr int64_t kHostSteps = 16;

/// The step block back, with the loss.
constexpr int64_t kCopiesOfResults = 1;

/// NaN and infinities give NaN, which equals nothing.
bool isFinite(double x) { return x - x == 0; }

/// Whether a step is updated.
bool isApplied(const StepResult &result) {
  return isFinite(result.gradNorm) && result.applies;
}

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
         awaited_->rows == entry.length &&
         rank_.isKept(entry, 0, entry.length) && !isTraced(step) &&
         !isTraced(step + 1) && step != hostTracedBehind() &&
         !dumps("grads", step + 1) && !dumps("params", step) &&
         !checkpoints_.due(step) &&
         !job_.evaluation.due(step, job_.recipe.steps);
}

bool Trainer::isTraced(int64_t step) const {
  return job_.trace.has(step) || job_.report.timing > 0;
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
  if (now.trace)
    MTC_RETURN_IF_ERROR(takeTrace(now.step, *now.trace));
  if (now.host.worksIssued > 0 && now.rows == now.entry->length)
    host_.add(now.host, seconds_);
  if (tracesHost_ && now.step >= hostTracedBehind())
    MTC_RETURN_IF_ERROR(writeTraces());
  if (job_.profile.isWanted())
    MTC_RETURN_IF_ERROR(takeProfile(now.step));
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

Status Trainer::finishStep(const IssuedStep &now, IssuedStep *next) {
  // On all ranks: the norm is of all gradients, and takes the loss in.
  bool finite = isFinite(result_.gradNorm);
  bool skips = !finite && scaler_.scales() && !now.entry->update.empty();
  MTC_RETURN_IF_ERROR(checkRates(now));
  if (next && !isApplied(result_) && !skips) {
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
  if (now.rows < now.entry->length) {
    MTC_RETURN_IF_ERROR(rank_.walk(*now.entry, now.rows, now.entry->length,
                                   of(now.step).loader));
    MTC_RETURN_IF_ERROR(rank_.complete());
  }
  scaler_.update(true);
  lookedAtParameters_ = false;
  finish(now);
  return checkUpdates(now);
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

void Trainer::finish(const IssuedStep &now) {
  const int64_t step = now.step;
  std::chrono::duration<double> read = now.ended - now.began;
  seconds_ = now.rows == now.entry->length ? read.count() : sinceStart();
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

int64_t Trainer::rowsBeforeResult(int64_t step, const EntryInfo &entry) const {
  if (entry.update.empty() || (rank_.keepsWalks() && !dumps("grads", step)))
    return entry.length;
  return entry.update[0] + 1;
}

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

Status Trainer::endRowsOfSkipped(const IssuedStep &now) {
  const EntryInfo &entry = *now.entry;
  if (now.rows < entry.length) {
    // What others end, these may have begun.
    TokenLoader &loader = of(now.step).loader;
    int64_t apply = entry.update[1];
    MTC_RETURN_IF_ERROR(rank_.walk(entry, now.rows, apply, loader));
    MTC_RETURN_IF_ERROR(rank_.walk(entry, apply + 1, entry.length, loader));
    MTC_RETURN_IF_ERROR(rank_.complete());
  }
  return Status::okay();
}

Status Trainer::lookAtParameters(const IssuedStep &now, IssuedStep *next,
                                 bool &ends) {
  ends = false;
  if (std::exchange(lookedAtParameters_, true))
    return Status::okay();
  if (next) {
    MTC_RETURN_IF_ERROR(readResult(*next));
    if (isApplied(*next->result))
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
  finish(now);
  ++skipped_;
  skippedSamples_ += batches_.of(now.step);
  warnOfSkips(now.step);
  return checkUpdates(now);
}

void Trainer::warnOfSkips(int64_t step) const {
  if (rank_.logs() && scaler_.stuck() == kStuckSteps)
    std::fprintf(stderr, "warning: %s\n",
                 scaler_.stuckText(step, result_.loss).c_str());
}

RankTrace *Trainer::beginTrace(int64_t step) {
  if (!isTraced(step))
    return nullptr;
  RankTrace *trace = &spans_;
  if (job_.trace.has(step))
    trace = traces_.emplace_back(std::make_unique<RankTrace>()).get();
  trace->clear();
  rank_.traceTo(trace);
  return trace;
}

Status Trainer::takeTrace(int64_t step, const RankTrace &trace) {
  if (job_.report.timing > 0) {
    times_.add(rank_.descriptor(), trace, seconds_);
    if (report_.isDue(step)) {
      MTC_RETURN_IF_ERROR(gatherTimes(rank_, times_, timesOverRanks_));
      times_.clear();
    }
  }
  if (step != job_.trace.last)
    return Status::okay();
  // Also where the host's part comes later: the run may not get so far.
  tracesHost_ = timesHost();
  return step < hostTracedBehind() ? writeTraces(Json()) : writeTraces();
}

bool Trainer::timesHost() const {
  return job_.trace.last > 0 && job_.graphs && job_.report.timing == 0 &&
         rank_.device().keeper();
}

int64_t Trainer::hostTracedBehind() const {
  return timesHost() ? std::min(job_.recipe.steps, job_.trace.last + kHostSteps)
                     : job_.trace.last;
}

Status Trainer::writeTraces() {
  tracesHost_ = false;
  Json host = timesHost() ? host_.toJson(rank_.rank()) : Json();
  if (!host.is_null() && rank_.logs())
    std::fprintf(stderr, "%s\n", issueText(host).c_str());
  return writeTraces(host);
}

Status Trainer::writeTraces(const Json &host) {
  return writeTrace(job_.trace, rank_, traces_, host,
                    [this] { return meet(); });
}

Status Trainer::takeProfile(int64_t step) {
  rank_.profileTo(nullptr);
  profile_.stepEnds(seconds_);
  if (step <= job_.startStep() + job_.profile.warmUp)
    profile_.clear();
  if (step != job_.recipe.steps)
    return Status::okay();
  return writeProfile(profilePath(job_.profile.folder, rank_.rank()), profile_);
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
