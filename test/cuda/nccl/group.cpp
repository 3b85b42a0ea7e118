//===- group.cpp - calls between ncclGroupStart and ncclGroupEnd ----------===//
#include "test/cuda/nccl/group.h"

#include "test/cuda/driver/report.h"
#include "test/cuda/nccl/communicator.h"
#include "test/cuda/nccl/launch.h"
#include "test/cuda/nccl/results.h"

#include <algorithm>
#include <map>
#include <vector>

namespace mtc::standin::nccl {
namespace {

/// Of a thread.
struct Group {
  int depth = 0;
  ncclResult_t error = ncclSuccess;         ///< the first
  std::vector<std::shared_ptr<Plan>> plans; ///< by communicator, as they came
  std::vector<std::unique_ptr<Job>> jobs;

  ~Group() {
    if (depth)
      report("NCCL: a thread ends between ncclGroupStart and ncclGroupEnd");
  }
};
thread_local Group group;

bool overlap(CUdeviceptr a, size_t aBytes, CUdeviceptr b, size_t bBytes) {
  return aBytes && bBytes && a < b + bBytes && b < a + aBytes;
}

/// Within one call a buffer may be written where it is read only as the manual
/// has it for calls in place.
bool isInPlace(const Request &request, int rank) {
  const Call &call = request.call;
  size_t block = call.count * call.elementBytes() * size_t(rank);
  switch (call.kind) {
  case Kind::allGather:
    return request.from == request.to + block;
  case Kind::reduceScatter:
    return request.to == request.from + block;
  case Kind::allToAll:
    return false;
  default:
    return request.from == request.to;
  }
}

/// Two calls of a group run at one time; what one writes no other touches.
ncclResult_t checkOverlap(const Plan &plan) {
  int rank = plan.comm->rank, size = plan.comm->size;
  if (environmentHas("MTC_STANDIN_ALLOW", "overlap"))
    return ncclSuccess;
  for (const Request &one : plan.requests)
    for (const Request &other : plan.requests) {
      size_t written = one.call.bytesWritten(rank, size);
      bool same = &one == &other;
      bool meets = overlap(one.to, written, other.from,
                           other.call.bytesRead(rank, size)) &&
                   !(same && isInPlace(one, rank));
      meets |= !same && overlap(one.to, written, other.to,
                                other.call.bytesWritten(rank, size));
      if (meets)
        return refuseStrictly(
            ncclInvalidArgument,
            same
                ? one.call.text() + " in " + plan.comm->name +
                      ": its buffers overlap, and not as those of a call in "
                      "place"
                : one.call.text() + " in " + plan.comm->name + " writes what " +
                      other.call.text() + " of its group touches");
    }
  return ncclSuccess;
}

ncclResult_t checkSelf(const Plan &plan) {
  int sends = 0, receives = 0;
  for (const Request &each : plan.requests)
    if (each.call.isTransfer() && each.call.root == plan.comm->rank)
      ++(each.call.kind == Kind::send ? sends : receives);
  if (sends == receives)
    return ncclSuccess;
  return refuse(ncclInvalidUsage,
                sends > receives
                    ? "Trying to send to self without a matching recv"
                    : "Trying to recv to self without a matching send");
}

/// Numbers the collectives, names the plan, and looks at it as a whole.
ncclResult_t complete(Plan &plan) {
  int collectives = 0;
  for (const Request &each : plan.requests)
    collectives += !each.call.isTransfer();
  int place = 0;
  for (Request &each : plan.requests)
    if (!each.call.isTransfer()) {
      each.call.place = place++;
      each.call.together = collectives;
    }
  plan.name = plan.requests.front().call.text();
  if (plan.requests.size() > 1)
    plan.name += " and " + std::to_string(plan.requests.size() - 1) + " more";
  if (ncclResult_t wrong = checkSelf(plan))
    return wrong;
  return checkOverlap(plan);
}

std::shared_ptr<Plan> planOf(ncclComm_t comm) {
  for (const auto &each : group.plans)
    if (each->comm == comm)
      return each;
  group.plans.push_back(std::make_shared<Plan>());
  group.plans.back()->comm = comm;
  return group.plans.back();
}

/// Runs jobs; those of communicators that do not block stay with them.
ncclResult_t runAll(std::vector<std::unique_ptr<Job>> jobs) {
  bool left = false;
  std::vector<std::unique_ptr<Job>> blocking;
  for (auto &each : jobs)
    if (!each->of || each->of->blocking)
      blocking.push_back(std::move(each));
  for (auto &each : jobs)
    if (each) {
      finishOrLeave(std::move(each));
      left = true;
    }
  ncclResult_t result = finish(blocking);
  return result == ncclSuccess && left ? ncclInProgress : result;
}

/// An error is the state of a communicator that does not block.
ncclResult_t fail(const std::vector<std::shared_ptr<Plan>> &plans,
                  ncclResult_t result) {
  for (const auto &each : plans)
    if (!each->comm->blocking)
      each->comm->async = result;
  return result;
}

/// Issues what the group has.
ncclResult_t flush() {
  auto plans = std::move(group.plans);
  auto jobs = std::move(group.jobs);
  ncclResult_t error = group.error;
  group.plans.clear();
  group.jobs.clear();
  group.error = ncclSuccess;
  for (const auto &each : plans)
    if (error == ncclSuccess)
      error = complete(*each);
  if (error != ncclSuccess)
    return fail(plans, error);
  ncclResult_t joined = runAll(std::move(jobs));
  if (joined != ncclSuccess && joined != ncclInProgress)
    return joined;
  std::vector<std::unique_ptr<Job>> launches;
  for (auto &each : plans)
    launches.push_back(makeLaunch(each));
  ncclResult_t launched = runAll(std::move(launches));
  return launched == ncclSuccess ? joined : launched;
}

} // namespace

ncclResult_t startGroup() {
  ++group.depth;
  return ncclSuccess;
}

ncclResult_t endGroup() {
  if (group.depth == 0)
    return refuse(ncclInvalidUsage, "ncclGroupEnd: not in a group call.");
  if (--group.depth)
    return ncclSuccess;
  return flush();
}

ncclResult_t dropGroup() {
  if (group.depth == 0)
    return refuse(ncclInvalidUsage, "ncclGroupEnd: not in a group call.");
  --group.depth;
  group.plans.clear();
  group.jobs.clear();
  ncclResult_t error = group.error;
  group.error = ncclSuccess;
  return error;
}

ncclResult_t issue(ncclComm_t comm, const Request &request, CUstream stream) {
  auto plan = planOf(comm);
  plan->requests.push_back(request);
  if (std::ranges::find(plan->streams, stream) == plan->streams.end())
    plan->streams.push_back(stream);
  return group.depth ? ncclSuccess : flush();
}

ncclResult_t issue(std::unique_ptr<Job> job) {
  group.jobs.push_back(std::move(job));
  return group.depth ? ncclSuccess : flush();
}

ncclResult_t remember(ncclResult_t result) {
  if (group.depth && group.error == ncclSuccess && result != ncclSuccess &&
      result != ncclInProgress)
    group.error = result;
  return result;
}

} // namespace mtc::standin::nccl
