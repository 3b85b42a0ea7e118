//===- table_words.cpp - timelines and transfers as the ABI lays them out -===//

#include "compiler/tables.h"

#include <cstddef>

namespace mtc::compiler {

// The tables are arrays of equal words, so the layouts must have no gaps.
static_assert(sizeof(MtcStep) == kStepWords * sizeof(int32_t));
static_assert(offsetof(MtcStep, slots) == 16 &&
              offsetof(MtcStep, first) == 20 && offsetof(MtcStep, count) == 24);
static_assert(sizeof(MtcTransfer) == kTransferWords * sizeof(int64_t));
static_assert(offsetof(MtcTransfer, peer_stage) == 4 &&
              offsetof(MtcTransfer, arena) == 8 &&
              offsetof(MtcTransfer, tag) == 16 &&
              offsetof(MtcTransfer, offset) == 24 &&
              offsetof(MtcTransfer, bytes) == 32);

std::vector<int32_t> timelineWords(const ProgramPlan &program,
                                   const PlanTimeline &timeline,
                                   int64_t &first) {
  std::vector<int32_t> words;
  auto put = [&](int64_t value) {
    words.push_back(static_cast<int32_t>(value));
  };
  for (const PlanRow &row : timeline.rows) {
    put(row.kind);
    int64_t fragment =
        row.kind == MTC_STEP_RUN ? program.fragmentIndex(row.fragment) : -1;
    put(fragment);
    put(row.microbatch);
    put(fragment >= 0 ? program.fragments[fragment].chunk : 0);
    put(row.slots);
    put(row.kind == MTC_STEP_EXCHANGE ? first : 0);
    put(static_cast<int64_t>(row.transfers.size()));
    first += static_cast<int64_t>(row.transfers.size());
  }
  return words;
}

/// Two 32-bit fields in one word, little-endian as all targets are.
static int64_t pair(int64_t low, int64_t high) {
  return static_cast<int64_t>(static_cast<uint64_t>(high) << 32 |
                              (static_cast<uint64_t>(low) & 0xffffffff));
}

std::vector<int64_t> transferWords(const ProgramPlan &program) {
  std::vector<int64_t> words;
  for (const PlanTimeline &timeline : program.timelines)
    for (const PlanRow &row : timeline.rows)
      for (const PlanTransfer &t : row.transfers) {
        words.push_back(pair(t.send ? 1 : 0, t.peer));
        words.push_back(pair(t.arena, 0)); // a tag begins at a word
        words.push_back(t.tag);
        words.push_back(t.offset);
        words.push_back(t.bytes);
      }
  return words;
}

} // namespace mtc::compiler
