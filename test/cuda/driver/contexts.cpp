//===- contexts.cpp - what is of which GPU --------------------------------===//
#include "test/cuda/driver/driver.h"
#include "test/cuda/driver/graph.h"
#include "test/cuda/driver/report.h"

#include <algorithm>

namespace mtc::standin {

bool Driver::isContext(CUcontext context) const {
  return std::ranges::any_of(contexts, [&](const auto &each) {
    return each.get() == context && each->retained;
  });
}

bool Driver::isAnyRetained() const {
  return std::ranges::any_of(contexts,
                             [](const auto &each) { return each->retained; });
}

/// Stricter than the real driver, which takes most handles of other contexts:
/// who uses one has forgotten where it is.
CUresult Driver::checkCurrent(CUcontext owner, const std::string &what) {
  if (!current || current == owner)
    return CUDA_SUCCESS;
  report(what + ", of device " + std::to_string(owner->device) +
         ", is used where the context of device " +
         std::to_string(current->device) + " is current");
  return CUDA_ERROR_INVALID_CONTEXT;
}

void Driver::reset(CUcontext context) {
  auto removeFrom = [&](auto &registry) {
    for (auto *each : registry.all())
      if (each->context == context)
        registry.remove(each);
  };
  if (!isAnyRetained()) {
    schedule.abandon();
    for (CUgraphExec each : execs.all())
      execs.remove(each);
    for (CUgraph each : graphs.all())
      destroyGraph(*this, each);
  }
  removeFrom(functions);
  removeFrom(modules);
  removeFrom(events);
  removeFrom(streams);
  context->perThread.clear();
  context->legacy.last.reset();
  context->lastGraph.reset();
  context->peers.clear();
  for (const auto &each : contexts)
    each->peers.erase(context);
  space.clear(context);
}

std::string Driver::placesOfWork() const {
  std::string places;
  for (const auto &each : contexts)
    if (each->operations)
      places += (places.empty() ? "" : " and ") +
                ("GPU " + std::to_string(each->gpu));
  std::string rank = environmentText("MTC_RANK");
  return (rank.empty() ? "this process" : "rank " + rank) +
         " ran operations on " + (places.empty() ? "no GPU" : places);
}

} // namespace mtc::standin
