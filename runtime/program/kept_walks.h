//===- kept_walks.h - walks of rows that are issued at once -----*- C++ -*-===//
#ifndef MTC_RUNTIME_PROGRAM_KEPT_WALKS_H
#define MTC_RUNTIME_PROGRAM_KEPT_WALKS_H

#include "runtime/device/work_keeper.h"
#include "runtime/program/descriptor.h"

#include <map>
#include <tuple>

namespace mtc::runtime {

/// Rows [first, end) of an entry's timeline.
struct RowRange {
  const EntryInfo *entry = nullptr;
  int64_t first = 0, end = 0;
  bool contains(const RowRange &other) const {
    return entry == other.entry && first <= other.first && other.end <= end;
  }
  bool operator<(const RowRange &other) const {
    return std::tie(entry, first, end) <
           std::tie(other.entry, other.first, other.end);
  }
};

/// A walk that a device keeps, and the host's memory that its copies of inputs
/// read, one behind the other in the order of the rows.
struct KeptWalk {
  bool isPrepared = false; ///< its rows were walked one by one
  std::unique_ptr<WorkKeeper::Work> work;
  std::byte *inputs = nullptr;
};

/// By range: rows are walked one by one once, as libraries prepare themselves
/// in that, alone or as a part of a longer range. The next walk is kept, and
/// that and all later ones are issued as a whole.
using KeptWalks = std::map<RowRange, KeptWalk>;

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PROGRAM_KEPT_WALKS_H
