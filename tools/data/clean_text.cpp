//===- clean_text.cpp - repairs of one text -------------------------------===//

#include "tools/data/clean_text.h"

#include "tools/data/unicode.h"

namespace mtc::data {
namespace {

/// The end of an escape of terminals at byte `at`, which is ESC; or `at`.
size_t escapeEnd(std::string_view text, size_t at) {
  if (text.substr(at + 1, 1) != "[")
    return at;
  size_t end = text.find_first_not_of("0123456789;", at + 2);
  if (end == text.npos)
    return at;
  bool isLetter = (text[end] >= 'a' && text[end] <= 'z') ||
                  (text[end] >= 'A' && text[end] <= 'Z');
  return isLetter ? end + 1 : at;
}

bool isControl(uint32_t code) {
  bool isFormat = (code >= 0x206A && code <= 0x206F) || code == 0xFEFF ||
                  (code >= 0xFFF9 && code <= 0xFFFC);
  bool isKept = code == '\t' || code == '\n' || code == '\f';
  return isFormat || (code < 0x20 && !isKept) || (code >= 0x7F && code < 0xA0);
}

bool isBreak(uint32_t code) {
  return code == '\r' || code == 0x85 || code == 0x2028 || code == 0x2029;
}

/// All but white space.
std::string cleanCharacters(std::string_view text, Repairs &repairs) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    CodePoint point = codePointAt(text, at);
    size_t end = at + point.bytes;
    if (!point.valid) {
      ++repairs.invalidBytes;
      appendCodePoint(0xFFFD, out);
    } else if (isBreak(point.value)) {
      ++repairs.lineBreaks;
      if (text.substr(at, 2) == "\r\n")
        ++end;
      out += '\n';
    } else if (size_t escape = point.value == 0x1B ? escapeEnd(text, at) : at;
               escape > at) {
      ++repairs.escapes;
      end = escape;
    } else if (isControl(point.value))
      ++repairs.controls;
    else
      out += text.substr(at, point.bytes);
    at = end;
  }
  return out;
}

/// Removes white space that says nothing.
std::string cleanSpaces(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    if (c == '\n') {
      while (!out.empty() && (out.back() == ' ' || out.back() == '\t'))
        out.pop_back();
      if (out.ends_with("\n\n"))
        continue;
    }
    out += c;
  }
  auto isSpace = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!out.empty() && isSpace(out.back()))
    out.pop_back();
  size_t begin = 0;
  while (begin < out.size() && isSpace(out[begin]))
    ++begin;
  return out.substr(begin);
}

} // namespace

std::string cleanText(std::string_view text, Repairs &repairs) {
  std::string characters = cleanCharacters(text, repairs);
  std::string out = cleanSpaces(characters);
  repairs.spaces += static_cast<int64_t>(characters.size() - out.size());
  return out;
}

} // namespace mtc::data
