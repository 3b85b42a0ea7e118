//===- word_cache.h - tokens of words that were seen ------------*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_WORD_CACHE_H
#define MTC_TOOLS_DATA_WORD_CACHE_H

#include "runtime/base/name_hash.h"

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace mtc::data {

/// Short words and their tokens, each in the one place that its hash names, so
/// that its size is fixed: 4 MiB. What it holds changes how long merging takes
/// and nothing else.
class WordCache {
public:
  WordCache() : entries_(kEntries) {}

  static bool takes(std::string_view word) {
    return word.size() <= sizeof Entry::word;
  }
  /// The tokens of a word that is short enough; empty if it is not here.
  std::span<const int32_t> find(std::string_view word) {
    Entry &entry = place(word);
    bool same = entry.bytes == word.size() &&
                std::memcmp(entry.word, word.data(), word.size()) == 0;
    return {entry.tokens, same ? entry.count : size_t{0}};
  }
  void put(std::string_view word, std::span<const int32_t> tokens) {
    if (tokens.size() > kTokens)
      return;
    Entry &entry = place(word);
    entry.bytes = static_cast<uint8_t>(word.size());
    entry.count = static_cast<uint8_t>(tokens.size());
    std::memcpy(entry.word, word.data(), word.size());
    std::memcpy(entry.tokens, tokens.data(), tokens.size_bytes());
  }

private:
  static constexpr size_t kEntries = 1 << 16, kTokens = 10;
  struct alignas(64) Entry {
    uint8_t bytes = 0, count = 0;
    char word[22];
    int32_t tokens[kTokens];
  };
  Entry &place(std::string_view word) {
    return entries_[XXH3_64bits(word.data(), word.size()) % kEntries];
  }
  std::vector<Entry> entries_;
};

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_WORD_CACHE_H
