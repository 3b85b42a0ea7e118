//===- split_words.cpp - the words that byte pairs are merged in ----------===//

#include "tools/data/split_words.h"

#include "tools/data/unicode.h"

#include <array>

namespace mtc::data {
namespace {

struct Char {
  CharKind kind;
  size_t end; ///< the byte behind it
};

/// Most of a text is ASCII: kinds that need no table of all code points.
constexpr std::array<CharKind, 128> makeAsciiKinds() {
  std::array<CharKind, 128> kinds = {};
  for (int c = 0; c < 128; ++c)
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
      kinds[c] = CharKind::letter;
    else if (c >= '0' && c <= '9')
      kinds[c] = CharKind::number;
    else if (c == ' ' || (c >= '\t' && c <= '\r'))
      kinds[c] = CharKind::space;
  return kinds;
}
constexpr std::array<CharKind, 128> kAsciiKinds = makeAsciiKinds();

Char charAt(std::string_view text, size_t at) {
  auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 128)
    return {kAsciiKinds[byte], at + 1};
  CodePoint point = codePointAt(text, at);
  return {point.valid ? kindOf(point.value) : CharKind::other,
          at + point.bytes};
}

/// The end of "'s" and the like at `begin`, or `begin`.
size_t contractionEnd(std::string_view text, size_t begin) {
  std::string_view rest = text.substr(begin);
  for (std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (rest.starts_with(ending))
      return begin + ending.size();
  return begin;
}

/// White space up to the next word, which takes one space along: the last
/// character of several is left where something follows.
size_t spacesEnd(std::string_view text, size_t begin) {
  size_t last = begin, end = begin;
  while (end < text.size()) {
    Char next = charAt(text, end);
    if (next.kind != CharKind::space)
      return last == begin ? end : last;
    last = end;
    end = next.end;
  }
  return end;
}

} // namespace

size_t wordEnd(std::string_view text, size_t begin) {
  if (text[begin] == '\'')
    if (size_t end = contractionEnd(text, begin); end > begin)
      return end;
  size_t at = begin;
  Char first = charAt(text, at);
  if (text[at] == ' ' && first.end < text.size())
    first = charAt(text, at = first.end);
  if (first.kind == CharKind::space)
    return spacesEnd(text, begin);
  size_t end = first.end;
  while (end < text.size()) {
    Char next = charAt(text, end);
    if (next.kind != first.kind)
      break;
    end = next.end;
  }
  return end;
}

} // namespace mtc::data
