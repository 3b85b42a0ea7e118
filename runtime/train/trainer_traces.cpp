//===- trainer_traces.cpp - what steps took -------------------------------===//
//
// Traces, which are files of some steps, times of a step by name for the log,
// and profiles of ops.
//
//===----------------------------------------------------------------------===//

#include "runtime/train/trainer.h"

#include "runtime/train/profile_file.h"
#include "runtime/train/trace_file.h"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace mtc::runtime {
namespace {

/// Steps behind the last that is traced in which the host is timed. Of the
/// first ones rows may be issued one by one, and be kept.
constexpr int64_t kHostSteps = 16;

} // namespace

bool Trainer::isTraced(int64_t step) const {
  return job_.trace.has(step) || job_.report.timing > 0;
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

Status Trainer::takeTimes(const IssuedStep &now) {
  if (now.trace)
    MTC_RETURN_IF_ERROR(takeTrace(now.step, *now.trace));
  if (now.host.worksIssued > 0 && now.isWhole())
    host_.add(now.host, seconds_);
  if (tracesHost_ && now.step >= hostTracedBehind())
    MTC_RETURN_IF_ERROR(writeTraces());
  return job_.profile.isWanted() ? takeProfile(now.step) : Status::okay();
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
  return goOnWithout(
      writeTrace(job_.trace, rank_, traces_, host, [this] { return meet(); }));
}

Status Trainer::takeProfile(int64_t step) {
  rank_.profileTo(nullptr);
  profile_.stepEnds(seconds_);
  if (step <= job_.startStep() + job_.profile.warmUp)
    profile_.clear();
  if (step != job_.recipe.steps)
    return Status::okay();
  return goOnWithout(
      writeProfile(profilePath(job_.profile.folder, rank_.rank()), profile_));
}

} // namespace mtc::runtime
