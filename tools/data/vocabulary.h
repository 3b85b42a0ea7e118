//===- vocabulary.h - tokens and merges of a byte-level BPE -----*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_VOCABULARY_H
#define MTC_TOOLS_DATA_VOCABULARY_H

#include "runtime/base/status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mtc::data {

constexpr int64_t kMostTokens = 1 << 20;
constexpr int64_t kMostMerges = 1 << 21;
constexpr int64_t kLongestToken = 4096; ///< bytes

/// The token that ends documents.
inline constexpr const char *kEndOfDocument = "<|endoftext|>";

/// The tokens of vocab.json: an object from symbols of the byte alphabet
/// (byte_alphabet.h) to ids 0 to n - 1, each once.
class Vocabulary {
public:
  /// Errors: inputRejected, with all that is wrong: no JSON object of integers,
  /// ids that are not 0 to n - 1, an empty or too long token, a token twice, a
  /// byte without a token.
  static runtime::Status read(const std::string &path, Vocabulary &out);
  /// The same, of the text of a file called `path`.
  static runtime::Status parse(std::string_view text, const std::string &path,
                               Vocabulary &out);

  int32_t size() const { return static_cast<int32_t>(symbols_.size()); }
  /// The id of a token as the file writes it; -1: none.
  int32_t idOf(std::string_view symbol) const;
  /// The bytes of a token. One with a character of no byte, which no text
  /// yields, is its own text.
  std::string bytes(int32_t id) const;

private:
  std::unordered_map<std::string, int32_t> ids_;
  std::vector<std::string> symbols_; ///< by id
};

/// Two tokens that become one.
struct Merge {
  int32_t left, right, result;
};

/// The merges of merges.txt in their order, the first the most urgent: a line
/// "left right" for each, behind a first line "#version ..." that may lack.
/// Errors: inputRejected, with all that is wrong, by line: other than two
/// symbols, a symbol or a result that is no token, a merge twice, a symbol of
/// several bytes that no earlier line makes (so that merges of lower rank never
/// wait for those of higher rank, in whatever order one applies them), a result
/// that ends documents.
runtime::Status readMerges(const std::string &path, const Vocabulary &tokens,
                           std::vector<Merge> &out);
runtime::Status parseMerges(std::string_view text, const std::string &path,
                            const Vocabulary &tokens, std::vector<Merge> &out);

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_VOCABULARY_H
