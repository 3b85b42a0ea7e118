//===- byte_pairs.cpp - a word to tokens by merging pairs -----------------===//

#include "tools/data/byte_pairs.h"

#include "tools/data/byte_alphabet.h"
#include "tools/data/unicode.h"

#include <algorithm>
#include <functional>

namespace mtc::data {
namespace {

/// Where a heap becomes the faster way.
constexpr size_t kShortWord = 64;

constexpr uint32_t kNoRank = PairTable::kNoRank;

} // namespace

BytePairs::BytePairs(const Vocabulary &tokens, std::vector<Merge> merges)
    : merges_(std::move(merges)), lengths_(tokens.size()), pairs_(merges_) {
  for (int byte = 0; byte < 256; ++byte) {
    std::string symbol;
    appendCodePoint(characterOf(static_cast<uint8_t>(byte)), symbol);
    byteIds_[byte] = tokens.idOf(symbol);
  }
  for (int32_t id = 0; id < tokens.size(); ++id)
    lengths_[id] = static_cast<int32_t>(tokens.bytes(id).size());
}

void BytePairs::merge(std::string_view word, MergeScratch &scratch,
                      std::vector<int32_t> &out) const {
  if (word.size() <= kShortWord)
    mergeShort(word, scratch, out);
  else
    mergeLong(word, scratch, out);
}

void BytePairs::mergeShort(std::string_view word, MergeScratch &scratch,
                           std::vector<int32_t> &out) const {
  std::vector<int32_t> &ids = scratch.ids;
  std::vector<uint32_t> &ranks = scratch.ranks; // of each with its right one
  ids.clear();
  for (char c : word)
    ids.push_back(byteIds_[static_cast<uint8_t>(c)]);
  ranks.assign(word.size(), kNoRank);
  for (size_t i = 0; i + 1 < ids.size(); ++i)
    ranks[i] = pairs_.rank(ids[i], ids[i + 1]);
  while (!ids.empty()) {
    size_t at = std::min_element(ranks.begin(), ranks.end()) - ranks.begin();
    if (ranks[at] == kNoRank)
      break;
    ids[at] = merges_[ranks[at]].result;
    ids.erase(ids.begin() + at + 1);
    ranks.erase(ranks.begin() + at + 1);
    bool isLast = at + 1 == ids.size();
    ranks[at] = isLast ? kNoRank : pairs_.rank(ids[at], ids[at + 1]);
    if (at > 0)
      ranks[at - 1] = pairs_.rank(ids[at - 1], ids[at]);
  }
  out.insert(out.end(), ids.begin(), ids.end());
}

/// The tokens of a word in the places of its bytes: the first byte of a token
/// has its id, the last one, if it is another, the token's length and the top
/// bit; so neighbours are found from either side with 4 bytes a byte. What is
/// inside of a token has the top bit.
struct BytePairs::LongWord {
  static constexpr uint32_t kTail = 1u << 31;

  const BytePairs &bpe;
  std::vector<uint32_t> &cells;

  bool startsToken(size_t at) const {
    return at < cells.size() && !(cells[at] & kTail);
  }
  int32_t idAt(size_t at) const { return static_cast<int32_t>(cells[at]); }
  size_t next(size_t at) const { return at + bpe.lengths_[idAt(at)]; }
  /// The token before one that starts at `at` > 0.
  size_t previous(size_t at) const {
    uint32_t cell = cells[at - 1];
    return cell & kTail ? at - (cell & ~kTail) : at - 1;
  }
  void join(size_t at, size_t second, int32_t result) {
    cells[second] = kTail;
    cells[at] = static_cast<uint32_t>(result);
    uint32_t length = bpe.lengths_[result];
    cells[at + length - 1] = kTail | length;
  }
};

void BytePairs::mergeLong(std::string_view word, MergeScratch &scratch,
                          std::vector<int32_t> &out) const {
  scratch.cells.resize(word.size());
  scratch.heap.clear();
  scratch.looks = 0;
  LongWord tokens = {*this, scratch.cells};
  for (size_t i = 0; i < word.size(); ++i)
    scratch.cells[i] = byteIds_[static_cast<uint8_t>(word[i])];

  // Rank and place in one number, so that the smallest is the next to merge:
  // 2^21 ranks, 2^31 places.
  auto entry = [&](size_t at) {
    ++scratch.looks;
    size_t second = tokens.next(at);
    uint32_t rank = second < word.size()
                        ? pairs_.rank(tokens.idAt(at), tokens.idAt(second))
                        : kNoRank;
    return uint64_t(rank) << 32 | at;
  };
  auto isPair = [](uint64_t entry) { return entry >> 32 != kNoRank; };
  std::vector<uint64_t> &heap = scratch.heap;
  for (size_t at = 0; at + 1 < word.size(); ++at)
    if (uint64_t found = entry(at); isPair(found))
      heap.push_back(found);
  std::greater<uint64_t> later;
  std::make_heap(heap.begin(), heap.end(), later);
  auto add = [&](size_t at) {
    if (uint64_t found = entry(at); isPair(found)) {
      heap.push_back(found);
      std::push_heap(heap.begin(), heap.end(), later);
    }
  };
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    uint64_t top = heap.back();
    heap.pop_back();
    size_t at = static_cast<uint32_t>(top);
    // Others may have taken one of the two since.
    if (!tokens.startsToken(at) || entry(at) != top)
      continue;
    tokens.join(at, tokens.next(at), merges_[top >> 32].result);
    add(at);
    if (at > 0)
      add(tokens.previous(at));
  }
  for (size_t at = 0; at < word.size(); at = tokens.next(at))
    out.push_back(tokens.idAt(at));
}

} // namespace mtc::data
