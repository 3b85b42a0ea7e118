//===- kept_walks.h - walks of rows that are issued at once -----*- C++ -*-===//
#ifndef MTC_RUNTIME_PROGRAM_KEPT_WALKS_H
#define MTC_RUNTIME_PROGRAM_KEPT_WALKS_H

#include "runtime/device/work_keeper.h"
#include "runtime/program/descriptor.h"
#include "runtime/program/step_slots.h"

#include <array>
#include <map>
#include <tuple>
#include <vector>

namespace mtc::runtime {

/// Rows [first, end) of an entry's timeline.
struct RowRange {
  const EntryInfo *entry = nullptr;
  int64_t first = 0, end = 0;
  /// Whether a step of training begins with them: then its block and its loss
  /// are theirs. The loss of an evaluation is summed over ranks behind its
  /// rows.
  bool beginsStep() const { return first == 0 && !entry->update.empty(); }
  bool contains(const RowRange &other) const {
    return entry == other.entry && first <= other.first && other.end <= end;
  }
  bool operator<(const RowRange &other) const {
    return std::tie(entry, first, end) <
           std::tie(other.entry, other.first, other.end);
  }
};

/// Rows that a device keeps, in one part or in several, one behind the other,
/// and all of that `times` times.
struct KeptPhase {
  std::vector<std::unique_ptr<WorkKeeper::Work>> parts;
  int64_t times = 1;
};

/// A walk that a device keeps: all rows as one phase or, where that would be
/// several parts and rows repeat (EntryInfo::period), as warm-up, period and
/// cool-down. What is issued again is of other microbatches: the device counts.
/// The inputs lie in memory of the device, one behind the other in the order of
/// the rows, which read them there; in front of them the order of the step, if
/// they begin one. Each issue begins with one copy of all of that from the
/// host: the next step's can be filled while this one runs. What else begins
/// and ends a step is in the parts.
struct KeptWalk {
  bool isPrepared = false; ///< its rows were walked one by one
  std::vector<KeptPhase> phases;
  int64_t inputBytes = 0;                               ///< with the order
  std::byte *inputs = nullptr;                          ///< of the device
  std::array<std::byte *, StepSlots::kCount> staging{}; ///< by slot of the step

  bool isKept() const { return !phases.empty(); }
};

/// By range: rows are walked one by one once, as libraries prepare themselves
/// in that, alone or as a part of a longer range. The next walk is kept, and
/// that and all later ones are issued as a whole.
using KeptWalks = std::map<RowRange, KeptWalk>;

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PROGRAM_KEPT_WALKS_H
