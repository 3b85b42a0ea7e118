//===- rank_kept.cpp - walks that a device keeps --------------------------===//

#include "runtime/program/rank.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace mtc::runtime {

bool RankState::isKept(const EntryInfo &entry, int64_t first,
                       int64_t end) const {
  auto at = kept_.find({&entry, first, end});
  return keepsWalks() && at != kept_.end() && at->second.isKept();
}

bool RankState::isPrepared(const RowRange &range) const {
  return std::ranges::any_of(kept_, [&](const auto &each) {
    return each.second.isPrepared && each.first.contains(range);
  });
}

Status RankState::walkKept(WorkKeeper &keeper, const RowRange &range,
                           DataLoader &loader) {
  KeptWalk &walk = kept_[range];
  // What is kept first takes longer.
  HostIssue *issue = walk.isKept() ? issue_ : nullptr;
  if (!walk.isKept() && !isPrepared(range)) {
    walk.isPrepared = true;
    return walkRows(range, loader, nullptr);
  }
  bringsLoss_ = range.beginsStep();
  if (!bringsLoss_)
    MTC_RETURN_IF_ERROR(issueBegin());
  assert(!bringsLoss_ || !isBegun_);
  isBegun_ = true;
  if (!walk.isKept())
    MTC_RETURN_IF_ERROR(keep(keeper, range, loader, walk));
  int64_t begin = traceNow();
  sendInputs(keeper, range, loader, walk);
  int64_t sent = traceNow();
  row_ =
      std::find_if(rows_ + range.first, rows_ + range.end - 1,
                   [](const MtcStep &row) { return row.kind == MTC_STEP_RUN; });
  if (parts_.flight && parts_.device->exchanges())
    parts_.flight->issued(noteOf(FlightKind::fragment));
  row_ = nullptr;
  for (const std::unique_ptr<WorkKeeper::Work> &part : walk.parts)
    if (context_.status == 0)
      accept(keeper.issue(*part));
  if (issue) {
    issue->tokens += sent - begin;
    issue->works += traceNow() - sent;
    issue->worksIssued += static_cast<int64_t>(walk.parts.size());
    issue->copies += walk.inputBytes > 0 ? 1 : 0;
  }
  return failure();
}

void RankState::sendInputs(WorkKeeper &keeper, const RowRange &range,
                           DataLoader &loader, const KeptWalk &walk) {
  std::byte *begin = walk.staging[slots_.index()], *input = begin;
  if (range.beginsStep()) {
    std::memcpy(input, &slots_.current().messages->block, sizeof(MtcStepBlock));
    input += sizeof(MtcStepBlock);
  }
  rows_ = timelines_[range.entry - descriptor().entries.data()];
  for (row_ = rows_ + range.first; row_ != rows_ + range.end; ++row_)
    if (row_->kind == MTC_STEP_LOAD)
      accept(forEachInput(*range.entry, *row_,
                          [&](const InputInfo &in, ArenaOffset) {
                            auto *tokens = reinterpret_cast<int32_t *>(input);
                            input += descriptor().inputBytes(*range.entry);
                            return loader.load(in, row_->microbatch, tokens);
                          }));
  if (context_.status == 0 && walk.inputBytes > 0)
    accept(keeper.send(walk.inputs, begin, walk.inputBytes));
}

Status RankState::openInputs(WorkKeeper &keeper, const RowRange &range,
                             KeptWalk &walk) {
  const MtcStep *rows = timelines_[range.entry - descriptor().entries.data()];
  walk.inputBytes = range.beginsStep() ? sizeof(MtcStepBlock) : 0;
  for (int64_t row = range.first; row < range.end; ++row)
    if (rows[row].kind == MTC_STEP_LOAD)
      MTC_RETURN_IF_ERROR(forEachInput(
          *range.entry, rows[row], [&](const InputInfo &, ArenaOffset) {
            walk.inputBytes += descriptor().inputBytes(*range.entry);
            return Status::okay();
          }));
  if (walk.inputBytes == 0)
    return Status::okay();
  void *inputs = nullptr;
  MTC_RETURN_IF_ERROR(keeper.deviceMemory(walk.inputBytes, inputs));
  walk.inputs = static_cast<std::byte *>(inputs);
  for (std::byte *&staging : walk.staging)
    MTC_RETURN_IF_ERROR(keeper.hostMemory(walk.inputBytes, staging));
  return Status::okay();
}

Status RankState::keep(WorkKeeper &keeper, const RowRange &range,
                       DataLoader &loader, KeptWalk &walk) {
  MTC_RETURN_IF_ERROR(openInputs(keeper, range, walk));
  keptInput_ = walk.inputs;
  for (RowRange rest = range; rest.first < rest.end && context_.status == 0;) {
    accept(keeper.begin());
    isKeeping_ = true;
    if (rest.beginsStep())
      keepBegin(keeper);
    if (context_.status == 0)
      keepRows(keeper, rest, loader);
    if (rest.first == rest.end && range.beginsStep())
      keepEnd(keeper);
    isKeeping_ = false;
    accept(keeper.end(walk.parts.emplace_back()));
  }
  return failure();
}

void RankState::keepBegin(WorkKeeper &keeper) {
  if (context_.status != 0)
    return;
  accept(keeper.take(
      kStepBlock, std::exchange(keptInput_, keptInput_ + sizeof(MtcStepBlock)),
      sizeof(MtcStepBlock)));
  accept(stream().fill(loss(), 0, sizeof(float)));
}

void RankState::keepEnd(WorkKeeper &keeper) {
  if (context_.status == 0)
    accept(keeper.take({MTC_ARENA_STEP, offsetof(MtcStepState, block.loss)},
                       address(loss()), sizeof(MtcStepBlock::loss)));
}

void RankState::keepRows(WorkKeeper &keeper, RowRange &rest,
                         DataLoader &loader) {
  do {
    (void)walkRows({rest.entry, rest.first, rest.first + 1}, loader, nullptr);
    ++rest.first;
  } while (rest.first < rest.end && context_.status == 0 && !keeper.isFull());
}

} // namespace mtc::runtime
