//===- trainer_steps.cpp - steps of training ------------------------------===//

#include "runtime/train/trainer.h"

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
  return step < job_.recipe.steps && isApplied(result_) &&
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
  out = {step, own.train.at(batches_.of(step)), 0, {}, beginTrace(step),
         {},   std::chrono::steady_clock::now()};
  if (job_.profile.isWanted())
    rank_.profileTo(&profile_);
  int64_t begin = traceNow();
  fillBlock(step, out.block);
  MTC_RETURN_IF_ERROR(rank_.beginStep(out.block));
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
  block_ = now.block;
  MTC_RETURN_IF_ERROR(rank_.readResult(result_));
  if (next && !isApplied(result_))
    MTC_RETURN_IF_ERROR(computeAgain(now));
  MTC_RETURN_IF_ERROR(finishStep(now));
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
  if (next && !isApplied(result_))
    MTC_RETURN_IF_ERROR(issue(next->step, *next));
  if (next)
    next->began = std::chrono::steady_clock::now();
  return behind(now.step);
}

Status Trainer::computeAgain(const IssuedStep &now) {
  StepResult ofNobody;
  MTC_RETURN_IF_ERROR(rank_.readResult(ofNobody));
  MTC_RETURN_IF_ERROR(rank_.dropGradients());
  MtcStepBlock block = now.block;
  block.follows = 1; // whatever comes out, it is not applied
  LeavesInputs inputs;
  MTC_RETURN_IF_ERROR(rank_.beginStep(block));
  MTC_RETURN_IF_ERROR(rank_.walk(*now.entry, 0, now.rows, inputs));
  MTC_RETURN_IF_ERROR(rank_.endStep());
  return rank_.readResult(ofNobody);
}

Status Trainer::finishStep(const IssuedStep &now) {
  // On all ranks: the norm is of all gradients, and takes the loss in.
  bool finite = isFinite(result_.gradNorm);
  if (!finite && (!scaler_.scales() || now.entry->update.empty()))
    return endNotFinite(now.step);
  if (finite && !result_.applies)
    return endTooLarge(now.step);
  MTC_RETURN_IF_ERROR(dump("grads", now.step));
  if (!finite)
    return skipUpdate(now);
  if (now.rows < now.entry->length) {
    MTC_RETURN_IF_ERROR(rank_.walk(*now.entry, now.rows, now.entry->length,
                                   of(now.step).loader));
    MTC_RETURN_IF_ERROR(rank_.complete());
  }
  scaler_.update(true);
  lookedAtParameters_ = false;
  finish(now.step);
  return Status::okay();
}

void Trainer::finish(int64_t step) {
  seconds_ = sinceStart();
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

void Trainer::fillBlock(int64_t step, MtcStepBlock &block) {
  // Rates and moments follow the updates that were done, and so does the scale:
  // a step in flight is taken for one. Where it is none, `step` stops with it.
  GlobalBatch batch = batchOf(step);
  LossScaler scaler = scaler_;
  if (awaited_)
    scaler.update(true);
  schedule_.fill(
      {step - skipped_, batch.first - skippedSamples_, batch.samples}, block);
  block.step = step;
  block.sample_base = batch.first;
  block.follows = awaited_.has_value();
  scaler.fill(block);
}

Status Trainer::skipUpdate(const IssuedStep &now) {
  const EntryInfo &entry = *now.entry;
  const int64_t step = now.step;
  // All rows but `apply`: what others end, these may have begun.
  if (now.rows < entry.length) {
    TokenLoader &loader = of(step).loader;
    int64_t apply = entry.update[1];
    MTC_RETURN_IF_ERROR(rank_.walk(entry, now.rows, apply, loader));
    MTC_RETURN_IF_ERROR(rank_.walk(entry, apply + 1, entry.length, loader));
    MTC_RETURN_IF_ERROR(rank_.complete());
  }
  if (!std::exchange(lookedAtParameters_, true)) {
    NotFinite found;
    MTC_RETURN_IF_ERROR(findNotFinite(rank_, result_.loss, found));
    if (!found.parameter.empty())
      return endWith(step, found);
  }
  MTC_RETURN_IF_ERROR(rank_.dropGradients());
  MTC_RETURN_IF_ERROR(rank_.complete());
  scaler_.update(false);
  finish(step);
  ++skipped_;
  skippedSamples_ += batches_.of(step);
  warnOfSkips(step);
  return Status::okay();
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
  facts.lr = block_.lr[0];
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
    facts.lossScale = block_.loss_scale;
    facts.skippedSteps = skipped_;
  }
  if (failed) {
    facts.notFinite = failed->what;
    facts.badParameter = failed->parameter;
  }
  report_.step(facts);
}

} // namespace mtc::runtime
