//===- pair_table.h - which two tokens become which one ---------*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_PAIR_TABLE_H
#define MTC_TOOLS_DATA_PAIR_TABLE_H

#include "tools/data/vocabulary.h"

#include <bit>
#include <cstdint>
#include <vector>

namespace mtc::data {

/// The rank of each merge by its pair: a table of open addresses, at most half
/// full.
class PairTable {
public:
  static constexpr uint32_t kNoRank = UINT32_MAX;

  PairTable() : PairTable(std::vector<Merge>()) {}
  explicit PairTable(const std::vector<Merge> &merges)
      : slots_(std::bit_ceil(2 * merges.size() + 2)) {
    for (uint32_t rank = 0; rank < merges.size(); ++rank) {
      uint64_t pair = pairOf(merges[rank].left, merges[rank].right);
      size_t at = firstPlace(pair);
      while (slots_[at].rank != kNoRank)
        at = (at + 1) & (slots_.size() - 1);
      slots_[at] = {pair, rank};
    }
  }

  /// kNoRank: they do not merge.
  uint32_t rank(int32_t left, int32_t right) const {
    uint64_t pair = pairOf(left, right);
    for (size_t at = firstPlace(pair);; at = (at + 1) & (slots_.size() - 1))
      if (slots_[at].pair == pair || slots_[at].rank == kNoRank)
        return slots_[at].rank;
  }

private:
  struct Slot {
    uint64_t pair = 0;
    uint32_t rank = kNoRank;
  };
  static uint64_t pairOf(int32_t left, int32_t right) {
    return uint64_t(uint32_t(left)) << 32 | uint32_t(right);
  }
  size_t firstPlace(uint64_t pair) const {
    uint64_t mixed = pair * 0x9E3779B97F4A7C15u;
    return (mixed ^ mixed >> 32) & (slots_.size() - 1);
  }
  std::vector<Slot> slots_;
};

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_PAIR_TABLE_H
