//===- launch.cpp - calls become an operation of a stream -----------------===//
#include "test/cuda/nccl/launch.h"

#include "test/cuda/driver/report.h"
#include "test/cuda/nccl/communicator.h"
#include "test/cuda/nccl/driver_calls.h"
#include "test/cuda/nccl/results.h"
#include "test/cuda/nccl/run.h"

#include <algorithm>
#include <cstring>

namespace mtc::standin::nccl {
namespace {

/// Later streams are behind the earlier ones' work, or the reverse.
CUresult order(CUstream earlier, CUstream later) {
  CUevent point = nullptr;
  CUresult wrong = driver().cuEventCreate_(&point, CU_EVENT_DISABLE_TIMING);
  if (!wrong)
    wrong = driver().cuEventRecord_(point, earlier);
  if (!wrong)
    wrong = driver().cuStreamWaitEvent_(later, point, 0);
  if (point)
    driver().cuEventDestroy_(point);
  return wrong;
}

/// Of one rank there is nothing to do, or a copy, unless it scales.
bool isCopy(const Request &request) {
  return !request.call.isTransfer() &&
         !(request.call.reduces() && request.call.op == ncclAvg);
}

std::vector<MtcStandinRange> rangesOf(const Plan &plan) {
  std::vector<MtcStandinRange> ranges;
  auto add = [&](CUdeviceptr address, size_t bytes, bool reads) {
    if (bytes)
      ranges.push_back({address, bytes, reads, !reads});
  };
  for (const Request &each : plan.requests) {
    add(each.from, each.call.bytesRead(plan.comm->rank, plan.comm->size), true);
    add(each.to, each.call.bytesWritten(plan.comm->rank, plan.comm->size),
        false);
  }
  return ranges;
}

class Launch : public Job {
public:
  explicit Launch(std::shared_ptr<Plan> plan) : plan(std::move(plan)) {
    of = this->plan->comm;
    ++of->blockedCalls;
  }
  ~Launch() override { --of->blockedCalls; }
  ncclResult_t step() override;
  std::string describe() const override;

private:
  void announce();
  int coldRank() const;
  CUresult put();
  CUresult putCopies();

  std::shared_ptr<Plan> plan;
  bool announced = false;
};

std::string Launch::describe() const {
  return "the first " + plan->name + " in " + of->name + ": rank " +
         std::to_string(coldRank()) + " makes none";
}

/// This rank's ends of the connections that the plan needs are there.
void Launch::announce() {
  announced = true;
  for (const Request &each : plan->requests) {
    int other = each.call.root;
    if (each.call.kind == Kind::send)
      of->shared->channel(of->rank, other).warmSender = 1;
    else if (each.call.kind == Kind::receive)
      of->shared->channel(other, of->rank).warmReceiver = 1;
    else
      of->shared->rank(of->rank).warm = 1;
  }
}

/// Who has not announced the other end; -1: all have.
int Launch::coldRank() const {
  for (const Request &each : plan->requests) {
    int other = each.call.root;
    if (each.call.kind == Kind::send) {
      if (!of->shared->channel(of->rank, other).warmReceiver)
        return other;
    } else if (each.call.kind == Kind::receive) {
      if (!of->shared->channel(other, of->rank).warmSender)
        return other;
    } else if (each.call.count) {
      for (int rank = 0; rank < of->size; ++rank)
        if (!of->shared->rank(rank).warm)
          return rank;
    }
  }
  return -1;
}

CUresult Launch::putCopies() {
  for (const Request &each : plan->requests) {
    size_t bytes = each.call.count * each.call.elementBytes();
    if (!isCopy(each) || bytes == 0 || each.from == each.to)
      continue;
    if (CUresult wrong = driver().cuMemcpyDtoDAsync_(each.to, each.from, bytes,
                                                     plan->streams.front()))
      return wrong;
  }
  std::erase_if(plan->requests, isCopy);
  return CUDA_SUCCESS;
}

/// Also where nothing is to be done: the real library crashes on such a one.
bool isNone(CUstream stream) {
  return !std::strcmp(driver().mtcStandinStreamName_(stream),
                      "a stream that is none");
}

/// A call outside of a capture is ordered with those inside, which ends it.
void invalidateCaptures(ncclComm &comm) {
  for (CUstream each : comm.captures)
    if (driver().mtcStandinIsCapturing_(each))
      driver().cuStreamQuery_(each);
  comm.captures.clear();
}

CUresult Launch::put() {
  CUstream stream = plan->streams.front();
  for (CUstream each : plan->streams)
    if (isNone(each))
      return CUDA_ERROR_INVALID_HANDLE;
  for (CUstream each : plan->streams)
    if (each != stream)
      if (CUresult wrong = order(each, stream))
        return wrong;
  if (of->size == 1)
    if (CUresult wrong = putCopies())
      return wrong;
  if (!plan->requests.empty()) {
    plan->captured = driver().mtcStandinIsCapturing_(stream);
    {
      std::lock_guard lock(of->mutex);
      of->plans.insert(plan);
    }
    (plan->captured ? of->captures : of->streams).insert(stream);
    if (!plan->captured)
      invalidateCaptures(*of);
    std::vector<MtcStandinRange> ranges = rangesOf(*plan);
    RunArguments arguments{plan.get(), nullptr};
    if (CUresult wrong = driver().mtcStandinEnqueue_(
            stream, plan->name.c_str(), ranges.data(), ranges.size(), stepRun,
            &arguments, sizeof arguments))
      return wrong;
  }
  for (CUstream each : plan->streams)
    if (each != stream)
      if (CUresult wrong = order(stream, each))
        return wrong;
  return CUDA_SUCCESS;
}

ncclResult_t Launch::step() {
  if (of->life == Life::aborted)
    return refuse(ncclInternalError, "the communicator was aborted");
  if (!announced)
    announce();
  if (of->size > 1 && coldRank() >= 0)
    return ncclInProgress;
  DeviceScope scope(of->gpu);
  if (scope.result)
    return refuseCuda(scope.result);
  return refuseCuda(put());
}

class Drain : public Job {
public:
  Drain(ncclComm_t comm, std::string who) : who(std::move(who)) { of = comm; }
  ncclResult_t step() override;
  std::string describe() const override {
    return who + " of " + of->name + ": its calls do not end";
  }

private:
  const std::string who;
};

ncclResult_t Drain::step() {
  if (of->open == 0 || of->life == Life::aborted)
    return ncclSuccess;
  DeviceScope scope(of->gpu);
  if (scope.result)
    return ncclSuccess;
  bool broken = false;
  for (CUstream each : of->streams) {
    CUresult result = driver().cuStreamQuery_(each);
    // A stream that is gone has been waited for.
    broken |= result && result != CUDA_ERROR_NOT_READY &&
              result != CUDA_ERROR_INVALID_HANDLE;
  }
  // Nothing runs in a broken context any more.
  return broken || of->open == 0 ? ncclSuccess : ncclInProgress;
}

/// Of no communicator's state: it blocks, whatever others do.
class Release : public Job {
public:
  explicit Release(ncclComm_t comm) : comm(comm) {}
  ncclResult_t step() override {
    if (whoIsBusy(*comm->device).empty())
      return ncclSuccess;
    DeviceScope scope(comm->gpu);
    return scope.result || driver().mtcStandinIsIdle_() ? ncclSuccess
                                                        : ncclInProgress;
  }
  std::string describe() const override {
    return "ncclCommAbort of " + comm->name + " waits for the GPU, on which " +
           whoIsBusy(*comm->device) + " has a call; abort both in one group";
  }

private:
  const ncclComm_t comm;
};

} // namespace

std::unique_ptr<Job> makeLaunch(std::shared_ptr<Plan> plan) {
  return std::make_unique<Launch>(std::move(plan));
}

std::unique_ptr<Job> makeDrain(ncclComm_t comm, std::string who) {
  return std::make_unique<Drain>(comm, std::move(who));
}

std::unique_ptr<Job> makeRelease(ncclComm_t comm) {
  return std::make_unique<Release>(comm);
}

} // namespace mtc::standin::nccl
