//===- gemm_own_plan.cpp - how a product is cut ---------------------------===//
#include "runtime/kernels/cpu/gemm_own.h"
#include "runtime/kernels/cpu/gemm_own_extents.h"
#include "runtime/kernels/cpu/kernel_sets.h"

namespace mtc::runtime {

namespace {

/// Units of k of a block, a part of the order of sums: another one changes
/// bits.
constexpr int64_t kDepth = 1024;
/// Rows or columns that the team packs.
constexpr int64_t kShared = 3072;
/// Of so many panels of columns one is left to whoever is the first to be done,
/// some rows at a time: a thread is now and then kept from its work for one or
/// two hundredths of a product.
constexpr int64_t kPanelsPerTail = 16;
/// No tail is a larger part than one panel in so many.
constexpr int64_t kLeastPerTail = 6;

/// The extent of equal blocks of at most `most`, a multiple of `unit`.
int64_t blockOf(int64_t extent, int64_t most, int64_t unit) {
  return roundUp(ceilDiv(extent, ceilDiv(extent, most)), unit);
}

const OwnBlocks &blocksOf(const OwnKernels &kernels, SecondLevel cache) {
  return cache == SecondLevel::large ? kernels.large : kernels.usual;
}

} // namespace

OwnGemm::OwnGemm(const GemmDesc &desc, int threads, std::string_view isa,
                 SecondLevel cache)
    : desc(desc), kernels(findKernels(isa, desc.ab)->products),
      threads(threads),
      depth(blockOf(units(), kDepth,
                    std::max(kernels->unitsPerStep, int64_t(8)))),
      readsRows(!desc.ta && kernels->readsRows &&
                desc.k % (kernels->elementsPerUnit * kernels->unitsPerStep) ==
                    0),
      ownsB(readsRows || isPacked() || desc.m < std::min(desc.n, kShared)),
      fillsWindows(desc.counts && kernels->fillsWindows &&
                   NormCounter::hasWindows()) {
  const OwnBlocks &here = blocksOf(*kernels, cache);
  for (const OwnBlocks *each : {&kernels->usual, &kernels->large, &here}) {
    planFor(*each);
    most = std::max(most, end);
  }
}

void OwnGemm::planFor(const OwnBlocks &of) {
  blocks = &of;
  if (ownsB)
    planOwnB();
  else
    planSharedB();
}

/// Threads divide the columns; each packs its own, so many that they stay in
/// its second-level cache. The team packs op(a), unless it is read as it is.
void OwnGemm::planOwnB() {
  cutThreads(desc.n, false);
  tail = tailOf();
  Share largest = shareOf(threads - 1, desc.n - tail);
  int64_t columns = roundUp(largest.columns.size(), kernels->columns);
  int64_t panels = (readsRows ? blocks->ownUnitsBesideRows : blocks->ownUnits) /
                   depth / kernels->columns;
  width = std::min(columns, std::max(panels, int64_t(1)) * kernels->columns);
  sharesAt =
      readsRows ? 0 : aligned(depth * roundUp(desc.m, kernels->panelRows));
  sumsAt = isPacked() ? 0 : aligned(depth * width);
  // Sums that wait in fp32 are of some columns at a time.
  stripe = needsSums()
               ? std::min(columns, roundUp(ceilDiv(kShared, columnParts),
                                           kernels->columns))
               : columns;
  stripes = ceilDiv(columns, stripe);
  share =
      sumsAt +
      (needsSums()
           ? aligned(roundUp(largest.rows.size(), kernels->panelRows) * stripe)
           : 0);
  end = sharesAt + threads * share;
}

/// The team packs op(b), threads divide the rows; each packs its own, so many
/// that they stay in its second-level cache.
void OwnGemm::planSharedB() {
  width = blockOf(desc.n, kShared, kernels->columns);
  stripe = std::min(width, desc.n);
  cutThreads(stripe, true);
  int64_t rows =
      roundUp(shareOf(threads - 1, stripe).rows.size(), kernels->panelRows);
  sharesAt = aligned(depth * roundUp(stripe, kernels->columns));
  sumsAt = aligned(depth * std::min(blocks->ownRows, rows));
  share = sumsAt + (needsSums() ? aligned(rows * stripe) : 0);
  end = sharesAt + threads * share;
}

/// Whether `b` is what `pack` made of it.
bool OwnGemm::isPacked() const { return desc.kernel == GemmKernel::ownPacked; }

/// Whether sums of several blocks of k need more bits than c has.
bool OwnGemm::needsSums() const { return desc.c != MTC_F32 && depth < units(); }

int64_t OwnGemm::units() const {
  return roundUp(ceilDiv(desc.k, kernels->elementsPerUnit),
                 kernels->unitsPerStep);
}

/// As few panels as can be for the thread that has the most; among these as
/// many parts of rows as can be, or as few.
void OwnGemm::cutThreads(int64_t columns, bool preferRows) {
  int64_t rowPanels = ceilDiv(desc.m, kernels->panelRows),
          columnPanels = ceilDiv(columns, kernels->columns);
  int64_t least = -1;
  for (int64_t i = 1; i <= threads; ++i) {
    int64_t rows = preferRows ? threads + 1 - i : i;
    if (threads % rows != 0)
      continue;
    int64_t most =
        ceilDiv(rowPanels, rows) * ceilDiv(columnPanels, threads / rows);
    if (least < 0 || most < least) {
      least = most;
      rowParts = rows;
      columnParts = threads / rows;
    }
  }
}

/// Columns of whole panels and the last one, so many that all threads have as
/// many of the others; none where that would be a large part, as of few panels
/// or for many threads, where there are fewer pieces of it than threads, or
/// where sums of several blocks of k would have to be made in their order.
int64_t OwnGemm::tailOf() const {
  int64_t panels = ceilDiv(desc.n, kernels->columns),
          count = ceilDiv(panels, kPanelsPerTail);
  count += (panels - count) % columnParts;
  if (threads == 1 || depth < units() || panels < kPanelsPerTail ||
      count * kLeastPerTail > panels || desc.m < kTailRows * threads)
    return 0;
  return desc.n - (panels - count) * kernels->columns;
}

OwnGemm::Share OwnGemm::shareOf(int64_t thread, int64_t columns) const {
  return {partOf(desc.m, thread / columnParts, rowParts, kernels->panelRows),
          partOf(columns, thread % columnParts, columnParts, kernels->columns)};
}

} // namespace mtc::runtime
