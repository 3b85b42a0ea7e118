//===- profile.cpp - how long the ops of fragments take -------------------===//

#include "runtime/program/profile.h"

#include <algorithm>

namespace mtc::runtime {
namespace {

/// Grows a list where something new is found, in the first steps.
template <typename T> T &element(std::vector<T> &list, int32_t index) {
  auto i = static_cast<size_t>(index);
  if (i >= list.size())
    list.resize(i + 1);
  return list[i];
}

} // namespace

TimedCalls &RankProfile::at(Place place) {
  return element(element(ops, place.fragment), place.op);
}

void RankProfile::opBegins(const MtcStep &row, int32_t op) {
  int64_t now = traceNow();
  if (open_.op >= 0)
    at(open_).add({began_, now});
  open_ = {row.fragment, op};
  began_ = now;
}

void RankProfile::rowEnds(const MtcStep &row, const TraceTime &time) {
  rows[static_cast<size_t>(row.kind)].add(time);
  if (row.kind == MTC_STEP_RUN)
    element(fragments, row.fragment).add(time);
}

void RankProfile::stepEnds(double itsSeconds) {
  seconds.push_back(itsSeconds);
  size_t done = std::min(issued_.size(), commTimes.size());
  for (size_t i = 0; i < done; ++i)
    if (issued_[i].op >= 0)
      at(issued_[i]).beside += commTimes[i].end - commTimes[i].begin;
  issued_.clear();
  commTimes.clear();
}

void RankProfile::clear() {
  for (std::vector<TimedCalls> &fragment : ops)
    std::ranges::fill(fragment, TimedCalls());
  std::ranges::fill(fragments, TimedCalls());
  rows = {};
  seconds.clear();
}

} // namespace mtc::runtime
