//===- step_report.cpp - what a run tells while it trains -----------------===//

#include "runtime/train/step_report.h"

#include "runtime/base/resident.h"
#include "runtime/base/wall_time.h"
#include "runtime/train/megatron_line.h"

#include <fmt/format.h>

#include <cmath>
#include <unistd.h>

namespace mtc::runtime {

StepReport::StepReport(const Job &job, int64_t ranks)
    : job_(job), ranks_(ranks), progress_(job.progressFd, job.progressRewrites),
      skipped_(job.checkpoints.start.skippedSteps) {}

Status StepReport::open(std::string_view chosen) {
  if (job_.logFd >= 0)
    log_.attach(job_.logFd, job_.logFile, job_.logAlone);
  if (job_.report.megatron)
    out_.attach(STDOUT_FILENO, "standard output");
  const std::string header = withGemms(job_.report.header, chosen);
  // A pipe that nobody reads has no room for that many products.
  log_.line(log_.isRegular() ? header : job_.report.header);
  if (job_.report.events.empty())
    return Status::okay();
  MTC_RETURN_IF_ERROR(events_.open(job_.report.events, job_.startStep() + 1));
  // Markdown shows four blanks as code.
  events_.text("run", "    " + header);
  return Status::okay();
}

bool StepReport::writes(const StepFacts &facts) const {
  return isDue(facts.step) || !facts.notFinite.empty();
}

bool StepReport::isDue(int64_t step) const {
  return step % job_.report.interval == 0 || step == job_.recipe.steps;
}

bool StepReport::shows(const StepFacts &facts) const {
  bool isLast = facts.step == job_.recipe.steps;
  return facts.notFinite.empty() &&
         (progress_.due() || (progress_.shown() && isLast));
}

StepRecord StepReport::recordOf(const StepFacts &facts) const {
  StepRecord record;
  record.step = facts.step;
  record.loss = facts.loss;
  record.gradNorm = facts.gradNorm;
  record.lr = facts.lr;
  record.tokens = facts.allTokens;
  record.samples = facts.allSamples;
  if (!job_.recipe.rampup_batch_size.empty())
    record.globalBatch = facts.samples;
  record.lossScale = facts.lossScale;
  record.skippedSteps = facts.skippedSteps;
  record.notFinite = facts.notFinite;
  record.badParameter = facts.badParameter;
  record.tokensPerSecond = static_cast<double>(tokens_) / seconds_;
  record.milliseconds = 1000 * seconds_ / static_cast<double>(steps_);
  if (flops_ > 0) {
    record.tflops = flops_ / seconds_ / static_cast<double>(ranks_) / 1e12;
    if (job_.report.peak > 0)
      record.mfu = *record.tflops / job_.report.peak;
  }
  record.residentBytes = residentBytes();
  record.time = wallTime();
  return record;
}

void StepReport::step(const StepFacts &facts) {
  int64_t tokens = facts.samples * facts.seq;
  ++steps_;
  seconds_ += facts.seconds;
  tokens_ += tokens;
  if (std::isfinite(facts.loss)) {
    losses_ += facts.loss;
    ++finiteLosses_;
  }
  flops_ += static_cast<double>(tokens) * job_.report.flopsPerToken(facts.seq);
  pace_ = pace_ == 0 ? facts.seconds : 0.9 * pace_ + 0.1 * facts.seconds;
  bool isWritten = writes(facts), isShown = shows(facts);
  if (!isWritten && !isShown)
    return;
  StepRecord record = recordOf(facts);
  if (isShown)
    show(record);
  if (!isWritten)
    return;
  write(record, facts.times);
  if (job_.report.megatron)
    writeMegatron(record, facts);
  steps_ = tokens_ = finiteLosses_ = 0;
  skipped_ = facts.skippedSteps.value_or(0);
  seconds_ = flops_ = losses_ = 0;
}

void StepReport::write(StepRecord record, const TimesOverRanks *times) {
  char buffer[kLongestLine], text[kLongestLine / 2];
  if (times)
    record.times = {formatTimes(*times, job_.report.timing, text)};
  log_.line(formatStep(record, buffer));
  if (events_.isOpen())
    writeEvents(record, times);
}

void StepReport::writeMegatron(const StepRecord &record,
                               const StepFacts &facts) {
  char buffer[kLongestLine];
  MegatronFacts more;
  more.now = static_cast<std::time_t>(record.time);
  more.steps = job_.recipe.steps;
  more.batch = facts.samples;
  more.loss = losses_ / static_cast<double>(finiteLosses_);
  more.skipped = facts.skippedSteps.value_or(0) - skipped_;
  out_.line(formatMegatron(record, more, buffer));
  if (facts.times)
    out_.line(formatMegatronTimes(*facts.times, job_.report.timing, buffer));
}

void StepReport::writeEvents(const StepRecord &record,
                             const TimesOverRanks *times) {
  events_.begin(record.step);
  events_.add(stepFields(), record);
  for (size_t i = 0; times && i < timeParts().size(); ++i)
    if (isOfLevel(timeParts()[i], job_.report.timing)) {
      events_.add("time/", timeParts()[i].name, times->parts[i].mean);
      events_.add("time_max/", timeParts()[i].name, times->parts[i].largest);
    }
  events_.end();
}

void StepReport::show(StepRecord record) {
  char buffer[kLongestLine];
  record.milliseconds = 1000 * pace_;
  progress_.print(formatProgress(record, job_.recipe.steps, buffer));
}

void StepReport::evaluation(const EvaluationRecord &record) {
  char buffer[kLongestLine];
  log_.line(formatEvaluation(record, buffer));
  if (events_.isOpen())
    events_.write(evaluationFields(), record, record.step);
  if (progress_.shown() && !job_.evaluates())
    progress_.print(formatProgress(record, job_.recipe.steps, buffer));
}

Status StepReport::status() const {
  Status all;
  for (Status each : {log_.status(), events_.status(), out_.status()})
    if (all.ok())
      all = each;
    else if (!each.ok())
      all = {all.code(), all.message() + "; " + each.message()};
  return all;
}

} // namespace mtc::runtime
