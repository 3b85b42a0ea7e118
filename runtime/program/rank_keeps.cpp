//===- rank_keeps.cpp - how a device comes to keep a walk -----------------===//

#include "mtc/runtime/step_field.h"
#include "runtime/program/rank.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace mtc::runtime {

int64_t RankState::inputBytes(const RowRange &range) {
  const MtcStep *rows = timelines_[range.entry - descriptor().entries.data()];
  int64_t bytes = 0;
  for (int64_t row = range.first; row < range.end; ++row)
    if (rows[row].kind == MTC_STEP_LOAD)
      accept(forEachInput(*range.entry, rows[row],
                          [&](const InputInfo &, ArenaOffset) {
                            bytes += descriptor().inputBytes(*range.entry);
                            return Status::okay();
                          }));
  return bytes;
}

Status RankState::openInputs(WorkKeeper &keeper, const RowRange &range,
                             KeptWalk &walk) {
  walk.inputBytes = inputBytes(range);
  if (range.beginsStep())
    walk.inputBytes += sizeof(MtcStepOrder);
  if (walk.inputBytes == 0)
    return failure();
  void *inputs = nullptr;
  MTC_RETURN_IF_ERROR(keeper.deviceMemory(walk.inputBytes, inputs));
  walk.inputs = static_cast<std::byte *>(inputs);
  for (std::byte *&staging : walk.staging)
    MTC_RETURN_IF_ERROR(keeper.hostMemory(walk.inputBytes, staging));
  return failure();
}

Status RankState::keep(WorkKeeper &keeper, const RowRange &range,
                       DataLoader &loader, KeptWalk &walk) {
  MTC_RETURN_IF_ERROR(openInputs(keeper, range, walk));
  keptInput_ = walk.inputs;
  walk.phases.emplace_back();
  RowRange rest = range;
  beginPart(keeper);
  if (range.beginsStep())
    keepBegin(keeper);
  const std::optional<PeriodInfo> &period = range.entry->period;
  if (period && range.first < period->first && period->end() < range.end)
    keepPeriod(keeper, rest, loader, walk);
  keepTo(keeper, range.end, rest, loader, walk.phases.back());
  if (range.beginsStep())
    keepEnd(keeper);
  endPart(keeper, walk.phases.back());
  return failure();
}

void RankState::beginPart(WorkKeeper &keeper) {
  accept(keeper.begin());
  isKeeping_ = true;
}

void RankState::endPart(WorkKeeper &keeper, KeptPhase &phase) {
  isKeeping_ = false;
  accept(keeper.end(phase.parts.emplace_back()));
}

void RankState::keepTo(WorkKeeper &keeper, int64_t end, RowRange &rest,
                       DataLoader &loader, KeptPhase &phase) {
  for (; rest.first < end && context_.status == 0; ++rest.first) {
    if (keeper.isFull()) {
      endPart(keeper, phase);
      beginPart(keeper);
    }
    (void)walkRows({rest.entry, rest.first, rest.first + 1}, loader, nullptr);
  }
}

void RankState::keepPeriod(WorkKeeper &keeper, RowRange &rest,
                           DataLoader &loader, KeptWalk &walk) {
  const PeriodInfo &period = *rest.entry->period;
  const DeviceCalls &calls = *DeviceCalls::of(&context_);
  // Calls are counted, not nodes of which a library may add some: all ranks
  // keep as many calls of each collective, as NCCL may talk in these.
  const int64_t begin = calls.count();
  keepTo(keeper, period.first, rest, loader, walk.phases.back());
  const int64_t warm = calls.count();
  keepTo(keeper, period.first + period.rows, rest, loader, walk.phases.back());
  const int64_t one = std::max<int64_t>(calls.count() - warm, 1);
  if (warm - begin + one * period.times <= keeper.room())
    return;
  endPart(keeper, walk.phases.back());

  const int64_t times = period.times - 1; // one is in the warm-up
  const int64_t each = std::clamp<int64_t>(keeper.room() / one, 1, times);
  KeptPhase &phase = walk.phases.emplace_back();
  phase.times = times / each;
  const int64_t kept = phase.times * each;
  std::byte *const inputs = keptInput_;
  keptStride_ = inputBytes({rest.entry, rest.first, rest.first + period.rows});
  const int64_t first = rest.first;
  beginPart(keeper);
  keepTo(keeper, first + each * period.rows, rest, loader, phase);
  moveOn(*rest.entry, each);
  endPart(keeper, phase);

  rest.first = first + kept * period.rows;
  keptInput_ = inputs + kept * std::exchange(keptStride_, 0);
  walk.phases.emplace_back();
  beginPart(keeper);
  moveOn(*rest.entry, -kept);
}

void RankState::moveOn(const EntryInfo &entry, int64_t repeats) {
  assert(countsUpdates());
  const BatchInfo &batch = descriptor().batch;
  const int64_t samples = repeats * entry.period->microbatches *
                          batch.microBatch * mesh()[MTC_AXIS_DP];
  if (context_.status == 0)
    DeviceCalls::of(&context_)->moveOn(&stepState(&context_), samples, repeats);
}

Status RankState::takeInput(const ArenaOffset &to, int64_t bytes) {
  const std::byte *from = std::exchange(keptInput_, keptInput_ + bytes);
  if (keptStride_ == 0)
    return parts_.device->keeper()->take(to, from, bytes);
  DeviceCalls::of(&context_)->take(&stepState(&context_), address(to), from,
                                   bytes, keptStride_);
  return failure();
}

void RankState::keepBegin(WorkKeeper &keeper) {
  if (context_.status != 0)
    return;
  accept(keeper.take(
      kStepOrder, std::exchange(keptInput_, keptInput_ + sizeof(MtcStepOrder)),
      sizeof(MtcStepOrder)));
  assert(countsUpdates());
  beginOnDevice(*DeviceCalls::of(&context_));
  accept(stream().fill(loss(), 0, sizeof(float)));
}

void RankState::keepEnd(WorkKeeper &keeper) {
  if (context_.status == 0)
    accept(keeper.take({MTC_ARENA_STEP, offsetof(MtcStepState, block.loss)},
                       address(loss()), sizeof(MtcStepBlock::loss)));
}

} // namespace mtc::runtime
