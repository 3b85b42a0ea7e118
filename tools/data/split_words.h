//===- split_words.h - the words that byte pairs are merged in --*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_SPLIT_WORDS_H
#define MTC_TOOLS_DATA_SPLIT_WORDS_H

#include <cstddef>
#include <string_view>

namespace mtc::data {

/// Where the word ends that begins at byte `begin` < text.size(), by GPT-2's
/// regular expression:
///
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+
///   |\s+(?!\S)|\s+
///
/// Every byte is in a word. Bytes that are not UTF-8 are neither letters nor
/// numbers nor white space.
size_t wordEnd(std::string_view text, size_t begin);

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_SPLIT_WORDS_H
