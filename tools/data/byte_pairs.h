//===- byte_pairs.h - a word to tokens by merging pairs ---------*- C++ -*-===//
//
// Sennrich, Haddow and Birch, "Neural machine translation of rare words with
// subword units" (ACL 2016), on bytes: of all pairs of neighbours that merge,
// the one of the lowest rank does first, of several the leftmost.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TOOLS_DATA_BYTE_PAIRS_H
#define MTC_TOOLS_DATA_BYTE_PAIRS_H

#include "tools/data/pair_table.h"
#include "tools/data/vocabulary.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace mtc::data {

/// What merging needs for a while; one of each thread. It grows with the
/// longest word: 12 bytes for each of its bytes and up to 8 more.
struct MergeScratch {
  std::vector<int32_t> ids;
  std::vector<uint32_t> ranks;
  std::vector<uint32_t> cells;
  std::vector<uint64_t> heap;
  /// Pairs that mergeLong looked at for its last word: a place of the heap each
  /// at most.
  size_t looks = 0;
};

class BytePairs {
public:
  BytePairs() = default;
  /// `tokens` has all bytes, and `merges` are of its tokens.
  BytePairs(const Vocabulary &tokens, std::vector<Merge> merges);

  /// Adds the tokens of a word of at most 2^31 - 1 bytes.
  void merge(std::string_view word, MergeScratch &scratch,
             std::vector<int32_t> &out) const;

  /// The two ways to do that, which give the same: looking at all pairs for
  /// each merge, best for a few bytes, and a heap of pairs, n·log n for n
  /// bytes.
  void mergeShort(std::string_view word, MergeScratch &scratch,
                  std::vector<int32_t> &out) const;
  void mergeLong(std::string_view word, MergeScratch &scratch,
                 std::vector<int32_t> &out) const;

private:
  struct LongWord;
  std::array<int32_t, 256> byteIds_ = {};
  std::vector<Merge> merges_;
  std::vector<int32_t> lengths_; ///< bytes of each token
  PairTable pairs_;
};

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_BYTE_PAIRS_H
