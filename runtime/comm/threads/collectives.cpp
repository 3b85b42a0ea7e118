//===- collectives.cpp - the last to arrive does the work -----------------===//

#include "runtime/comm/reduce.h"
#include "runtime/comm/threads/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace mtc::runtime::comm {
namespace {

std::span<const void *const> inputs(const Rendezvous &group) {
  return {group.buffers.data(), group.buffers.size()};
}

void reduceScatter(const Rendezvous &group, const CallRecord &call) {
  for (size_t m = 0; m < group.buffers.size(); ++m) {
    void *output = group.buffers[m];
    reduceInOrder(MTC_SUM, call.dtype, inputs(group), {&output, 1},
                  int64_t(m) * call.count, call.count);
  }
}

void allGather(const Rendezvous &group, const CallRecord &call) {
  int64_t bytes = call.count * elementBytes(call.dtype);
  for (size_t to = 0; to < group.buffers.size(); ++to)
    for (size_t part = 0; part < group.buffers.size(); ++part)
      if (to != part && bytes > 0)
        std::memcpy(static_cast<char *>(group.buffers[to]) + part * bytes,
                    static_cast<char *>(group.buffers[part]) + part * bytes,
                    bytes);
}

void perform(const Rendezvous &group, const CallRecord &call) {
  switch (call.kind) {
  case CollectiveKind::allReduce:
    return reduceInOrder(call.reduce, call.dtype, inputs(group), group.buffers,
                         0, call.count);
  case CollectiveKind::reduceScatter:
    return reduceScatter(group, call);
  case CollectiveKind::allGather:
    return allGather(group, call);
  case CollectiveKind::barrier:
    return;
  }
}

/// Threads could reach any buffer; what runs here must run elsewhere, too.
Status checkPlacements(const Rendezvous &group) {
  int size = int(group.members.size());
  const CallRecord &call = group.calls[0];
  if (size == 1 || payloadBytes(call, size) <= kAnywhereBytes)
    return Status::okay();
  for (int m = 0; m < size; ++m)
    if (group.placements[m].arena < 0)
      return checkPlacement(group.members[m], group.placements[m], 0,
                            bufferElements(call, size) *
                                elementBytes(call.dtype));
  return Status::okay();
}

/// Called by the last member, with the lock held.
Status complete(ThreadsState &state, Rendezvous &group, int rank, Lock &held) {
  Status agreed = checkAgreement(group.members, group.calls);
  if (agreed.ok())
    agreed = checkPlacements(group);
  if (!agreed.ok()) {
    state.fail(group.members, agreed);
    return state.ranks[rank].failure;
  }
  if (group.members.size() > 1) {
    group.busy = true;
    held.unlock();
    perform(group, group.calls[0]);
    held.lock();
    group.busy = false;
  }
  group.arrived = 0;
  std::ranges::fill(group.present, 0);
  ++group.generation;
  for (int member : group.members)
    state.release(member, Within::collective);
  return Status::okay();
}

Status waitForOthers(ThreadsState &state, Rendezvous &group, int rank,
                     Lock &held) {
  uint64_t generation = group.generation;
  RankSlot &self = state.ranks[rank];
  state.block(rank, Within::collective);
  self.in = &group;
  state.detectDeadlock();
  self.wake.wait(held, [&] {
    return group.generation != generation ||
           (!self.failure.ok() && !group.busy);
  });
  self.in = nullptr;
  return group.generation != generation ? Status::okay() : self.failure;
}

} // namespace

Status ThreadsState::collective(int rank, std::span<const ArenaView> arenas,
                                const CallRecord &call, void *buffer) {
  Lock held(lock);
  RankSlot &self = ranks[rank];
  if (!self.failure.ok())
    return self.failure;
  Rendezvous *found = group(rank, call.group);
  if (!found) {
    fail({&rank, 1},
         {StatusCode::usage,
          fmt::format("rank {} calls {} on group {}, of which it "
                      "is not a member",
                      rank, describe(call), groupName(call.group))});
    return self.failure;
  }
  size_t index =
      std::ranges::find(found->members, rank) - found->members.begin();
  found->calls[index] = call;
  found->buffers[index] = buffer;
  int size = int(found->members.size());
  found->placements[index] = placementIn(
      arenas, buffer, bufferElements(call, size) * elementBytes(call.dtype));
  found->present[index] = 1;
  if (++found->arrived == int(found->members.size()))
    return complete(*this, *found, rank, held);
  return waitForOthers(*this, *found, rank, held);
}

} // namespace mtc::runtime::comm
