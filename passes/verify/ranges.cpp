//===- ranges.cpp - flat ranges over parameters ---------------------------===//
//
// Over the dp coordinates d the ranges [start, start + count) ∩ [d·shard,
// (d + 1)·shard) tile [start, start + count) when the shards tile the bucket,
// which checkOwners sees to. So it is enough to look at one range for all d.
//
//===----------------------------------------------------------------------===//
#include "passes/verify/ranges.h"

#include <algorithm>

using namespace mlir;

namespace mtc::passes::verify {

BucketPart bucketPart(const Stage &stage, const Extent &e) {
  for (rt::BucketOp bucket : stage.buckets) {
    int64_t index = bucket.getIndex();
    if (e.arena == MTC_ARENA_GRADS && bucket.getGradOffset() == e.offset)
      return {index, Part::Grad};
    if (e.arena == MTC_ARENA_PARAMS && bucket.getParamOffset() == e.offset)
      return {index, Part::Param};
    if (e.arena == MTC_ARENA_OPTIMIZER)
      for (StringRef state : bucket.stateNames())
        if (bucket.stateOffset(state) == e.offset)
          return {index, Part::State, state};
  }
  return {};
}

namespace {

int64_t startOf(const Param &p) { return p.start(); }
int64_t endOf(const Param &p) { return p.end(); }
int64_t startOf(const RangeUse &u) { return u.range.getStart(); }
int64_t endOf(const RangeUse &u) { return startOf(u) + u.range.getCount(); }

/// The part of a range that lies in one segment must run on the ranks that make
/// every element count once.
void checkRanks(const Model &model, const Param &segment, const RangeUse &use,
                StringRef verb, bool everyRank, Report &report) {
  for (const AxisInfo &axis : kAxes) {
    StringRef name = axis.name;
    bool inShards = model.zero && axis.id == MTC_AXIS_DP;
    bool isSplit = segment.isSplitOver(axis);
    bool expected = axis.splits && model.mesh[axis.id] > 1 && !everyRank &&
                    !inShards && !isSplit;
    bool found = use.range.isOnce(axis.id);
    if (expected == found)
      continue;
    auto diag = report.error(use.range)
                << "expected a range on " << (expected ? "one " : "every ")
                << name << " rank where \"" << segment.name() << "\" is "
                << verb << " (";
    if (everyRank || inShards)
      diag << "every " << name << " rank does its part";
    else if (isSplit)
      diag << "split over " << name;
    else
      diag << "the same on every " << name << " rank";
    diag << "), found it on " << (found ? "one" : "every");
  }
}

} // namespace

void checkCover(const Model &model, rt::BucketOp bucket,
                std::vector<Param> segments, std::vector<RangeUse> uses,
                StringRef verb, bool everyRank, Operation *where,
                Report &report) {
  std::stable_sort(segments.begin(), segments.end(),
                   [](auto &a, auto &b) { return startOf(a) < startOf(b); });
  std::stable_sort(uses.begin(), uses.end(),
                   [](auto &a, auto &b) { return startOf(a) < startOf(b); });
  int64_t shard = model.zero ? bucket.getShard() : 0;
  std::vector<int64_t> done; ///< per segment: covered up to here
  for (const Param &segment : segments)
    done.push_back(startOf(segment));
  for (const RangeUse &use : uses) {
    if (use.range.getShard().value_or(0) != shard)
      report.error(use.range) << "expected a range of shards of " << shard
                              << " elements (0: not sharded), found "
                              << use.range.getShard().value_or(0);
    int64_t at = startOf(use);
    auto next =
        std::partition_point(segments.begin(), segments.end(),
                             [&](const Param &s) { return endOf(s) <= at; });
    for (; next != segments.end() && startOf(*next) < endOf(use); ++next) {
      int64_t begin = std::max(startOf(use), startOf(*next));
      int64_t end = std::min(endOf(use), endOf(*next));
      if (begin > at)
        report.error(use.op)
            << "expected only elements of owned parameters to be " << verb
            << ", found elements " << at << " to " << begin << " of bucket "
            << bucket.getIndex();
      int64_t &reached = done[next - segments.begin()];
      if (begin < reached)
        report.error(use.op) << "expected every element of \"" << next->name()
                             << "\" to be " << verb << " once, found elements "
                             << begin << " to " << std::min(reached, end)
                             << " of bucket " << bucket.getIndex() << " again";
      else if (begin > reached)
        report.error(use.op)
            << "expected every element of \"" << next->name() << "\" to be "
            << verb << ", found elements " << reached << " to " << begin
            << " of bucket " << bucket.getIndex() << " left out";
      reached = std::max(reached, end);
      at = end;
      checkRanks(model, *next, use, verb, everyRank, report);
    }
    if (at < endOf(use))
      report.error(use.op)
          << "expected only elements of owned parameters to be " << verb
          << ", found elements " << at << " to " << endOf(use) << " of bucket "
          << bucket.getIndex();
  }
  for (auto [segment, reached] : llvm::zip(segments, done))
    if (reached < endOf(segment))
      report.error(where) << "expected every element of \"" << segment.name()
                          << "\" to be " << verb << ", found elements "
                          << reached << " to " << endOf(segment)
                          << " of bucket " << bucket.getIndex() << " left out";
}

void expectUnmoved(const Stage &stage, Operation *op, const Access &access,
                   int64_t index, Report &report) {
  rt::BucketOp bucket = stage.bucket(index);
  int64_t bytes =
      (access.extent.arena == MTC_ARENA_PARAMS ? bucket.paramBytes() : 4) *
      bucket.getElements();
  if (access.moved)
    report.error(op) << "expected the view of all of bucket " << index
                     << ", found one moved by rt.offset_view";
  else if (access.extent.bytes != bytes)
    report.error(op) << "expected the view of all " << bytes
                     << " bytes of bucket " << index << ", found "
                     << access.extent.bytes;
}

} // namespace mtc::passes::verify
