//===- unicode.h - code points of texts and their kinds ---------*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_UNICODE_H
#define MTC_TOOLS_DATA_UNICODE_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mtc::data {

/// What stands at a place of a text. Of bytes that are not UTF-8 it is the
/// longest beginning of a code point, or one byte (Unicode 16, section 3.9,
/// "maximal subpart"): what readers replace by one U+FFFD.
struct CodePoint {
  uint32_t value = 0; ///< 0 of bytes that are not UTF-8
  int bytes = 0;
  bool valid = false;
};

/// The code point at byte `at` < text.size().
CodePoint codePointAt(std::string_view text, size_t at);

/// The first byte that is not UTF-8; text.size() if all are.
size_t firstInvalidByte(std::string_view text);

/// Adds the UTF-8 of a code point, which is no surrogate.
void appendCodePoint(uint32_t code, std::string &out);

/// The kinds that the regular expression of GPT-2 tells apart.
enum class CharKind : uint8_t {
  other,
  letter, ///< \p{L}
  number, ///< \p{N}
  space   ///< \s, White_Space
};

CharKind kindOf(uint32_t code);

/// First and last code point.
struct CodeRange {
  uint32_t first, last;
};
std::span<const CodeRange> letterRanges();
std::span<const CodeRange> numberRanges();
std::span<const CodeRange> spaceRanges();

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_UNICODE_H
