//===- restarts.cpp - starts ranks again after a death --------------------===//

#include "runtime/control/restarts.h"

#include "runtime/control/flight_files.h"
#include "runtime/control/say.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace mtc::runtime {

bool Restarts::mayFollow(const Status &ended) const {
  return isForRecords(ended) && done_ < most_ && signals_.count() == 0;
}

bool Restarts::pause(std::chrono::seconds time) const {
  Clock::time_point end = Clock::now() + time;
  while (signals_.count() == 0 && Clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return signals_.count() == 0;
}

Status Restarts::prepare(const Status &ended, RunCheckpoints &checkpoints,
                         RunOutputs &outputs, Job &job, bool &again) {
  again = false;
  int64_t before = job.checkpoints.start.step;
  MTC_RETURN_IF_ERROR(checkpoints.renew(job));
  int64_t step = job.checkpoints.start.step;
  if (step <= before) {
    say("not started again: no checkpoint was written since the last start");
    return Status::okay();
  }
  std::chrono::seconds time{int64_t{1} << std::min<int64_t>(done_, 6)};
  time = std::min(time, std::chrono::seconds(60));
  ++done_;
  say(fmt::format("{}; restart {} of {} in {} s, behind step {}",
                  ended.message(), done_, most_, time.count(), step));
  MTC_RETURN_IF_ERROR(outputs.goOnBehind(step));
  if (!pause(time))
    return Status::okay();
  job.early.spend(Clock::now() - began_);
  began_ = Clock::now();
  again = true;
  return Status::okay();
}

} // namespace mtc::runtime
