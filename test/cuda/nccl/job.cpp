//===- job.cpp - a call that may have to wait for other ranks -------------===//
#include "test/cuda/nccl/job.h"

#include "test/cuda/driver/report.h"
#include "test/cuda/nccl/communicator.h"
#include "test/cuda/nccl/results.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace mtc::standin::nccl {
namespace {

/// Between two looks at a call, longer and longer.
constexpr std::chrono::microseconds kPause(50), kLongestPause(200);

} // namespace

ncclResult_t finish(const std::vector<std::unique_ptr<Job>> &jobs) {
  double since = now();
  auto pause = kPause;
  std::vector<ncclResult_t> results(jobs.size(), ncclInProgress);
  for (;;) {
    const Job *open = nullptr;
    for (size_t k = 0; k < jobs.size(); ++k) {
      if (results[k] == ncclInProgress)
        results[k] = jobs[k]->step();
      if (results[k] == ncclInProgress)
        open = jobs[k].get();
    }
    if (!open)
      break;
    if (now() - since > environment("MTC_STANDIN_PATIENCE", 30))
      return refuseStrictly(ncclInternalError,
                            "a call that does not return: " + open->describe());
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
  for (ncclResult_t each : results)
    if (each != ncclSuccess)
      return each;
  return ncclSuccess;
}

ncclResult_t finishOrLeave(std::unique_ptr<Job> job) {
  ncclComm_t of = job->of;
  if (!of || of->blocking) {
    std::vector<std::unique_ptr<Job>> one;
    one.push_back(std::move(job));
    return finish(one);
  }
  std::lock_guard lock(of->mutex);
  of->job = std::move(job);
  of->async = ncclInProgress;
  return ncclInProgress;
}

} // namespace mtc::standin::nccl
