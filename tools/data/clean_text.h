//===- clean_text.h - repairs of one text -----------------------*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_CLEAN_TEXT_H
#define MTC_TOOLS_DATA_CLEAN_TEXT_H

#include <cstdint>
#include <string>
#include <string_view>

namespace mtc::data {

/// What was found in a text.
struct Repairs {
  int64_t invalidBytes = 0; ///< beginnings of code points, or single bytes
  int64_t lineBreaks = 0;   ///< other than \n
  int64_t escapes = 0;      ///< of terminals
  int64_t controls = 0;     ///< control characters
  int64_t spaces = 0;       ///< characters of white space that were removed
};

/// Repairs, in this order:
///
///   bytes that are no UTF-8   each longest beginning of a code point, or
///                             byte, becomes U+FFFD
///   line breaks               \r\n, \r, U+0085, U+2028 and U+2029 become \n
///   escapes of terminals      ESC [ digits and semicolons, a letter: removed
///   control characters        U+0000 to U+001F but \t, \n and \f, U+007F to
///                             U+009F, U+206A to U+206F, U+FEFF, U+FFF9 to
///                             U+FFFC: removed
///   white space               spaces and tabs at the end of a line, blank
///                             lines behind the first of several, and white
///                             space at both ends of the text: removed
///
/// No character becomes another letter, and case, quotes and normal forms stay.
std::string cleanText(std::string_view text, Repairs &repairs);

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_CLEAN_TEXT_H
