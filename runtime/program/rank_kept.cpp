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
  int64_t works = 0;
  for (const KeptPhase &phase : walk.phases) {
    works += phase.times * std::ssize(phase.parts);
    for (int64_t i = 0; i < phase.times; ++i)
      for (const std::unique_ptr<WorkKeeper::Work> &part : phase.parts)
        if (context_.status == 0)
          accept(keeper.issue(*part));
  }
  if (issue) {
    issue->tokens += sent - begin;
    issue->works += traceNow() - sent;
    issue->worksIssued += works;
    issue->copies += walk.inputBytes > 0 ? 1 : 0;
  }
  return failure();
}

void RankState::sendInputs(WorkKeeper &keeper, const RowRange &range,
                           DataLoader &loader, const KeptWalk &walk) {
  std::byte *begin = walk.staging[slots_.index()], *input = begin;
  if (range.beginsStep()) {
    std::memcpy(input, &slots_.current().messages->order, sizeof(MtcStepOrder));
    input += sizeof(MtcStepOrder);
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

} // namespace mtc::runtime
