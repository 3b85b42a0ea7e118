//===- json_object.cpp - the members of one JSON object -------------------===//

#include "tools/data/json_object.h"

#include "tools/data/unicode.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::data {
namespace {

constexpr int kDeepest = 64;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// What is found, for a message: a byte that a terminal shows, or its number.
std::string shown(std::string_view text, size_t at) {
  if (at >= text.size())
    return "the end";
  auto byte = static_cast<unsigned char>(text[at]);
  return byte > 0x20 && byte < 0x7F ? fmt::format("'{}'", text[at])
                                    : fmt::format("byte 0x{:02X}", byte);
}

} // namespace

bool JsonObject::failAt(size_t at, const std::string &problem) {
  if (error_.empty())
    error_ = fmt::format("byte {}: {}", at + 1, problem);
  state_ = State::end;
  return false;
}

bool JsonObject::fail(const std::string &expected) {
  return failAt(
      at_, fmt::format("expected {}, found {}", expected, shown(text_, at_)));
}

void JsonObject::skipSpace() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' ||
                                text_[at_] == '\n' || text_[at_] == '\r'))
    ++at_;
}

bool JsonObject::take(char wanted) {
  if (at_ == text_.size() || text_[at_] != wanted)
    return false;
  ++at_;
  return true;
}

bool JsonObject::scanEscape() {
  ++at_; // the backslash
  if (!take('u')) {
    if (at_ == text_.size() ||
        std::string_view("\"\\/bfnrt").find(text_[at_]) == std::string::npos)
      return fail("one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
    ++at_;
    return true;
  }
  for (int i = 0; i < 4; ++i, ++at_)
    if (at_ == text_.size() ||
        std::string_view("0123456789abcdefABCDEF").find(text_[at_]) ==
            std::string::npos)
      return fail("four hexadecimal digits behind \\u");
  return true;
}

bool JsonObject::scanString() {
  if (!take('"'))
    return fail("a string");
  while (at_ < text_.size()) {
    auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte == '"') {
      ++at_;
      return true;
    }
    if (byte < 0x20)
      return fail("an escape in place of a control character");
    if (byte == '\\') {
      if (!scanEscape())
        return false;
      continue;
    }
    if (byte < 0x80) {
      ++at_;
      continue;
    }
    CodePoint point = codePointAt(text_, at_);
    if (!point.valid && !anyBytes_)
      return fail("UTF-8");
    at_ += point.bytes;
  }
  return fail("'\"' behind a string");
}

bool JsonObject::scanDigits() {
  if (at_ == text_.size() || !isDigit(text_[at_]))
    return fail("a digit");
  while (at_ < text_.size() && isDigit(text_[at_]))
    ++at_;
  return true;
}

bool JsonObject::scanNumber() {
  take('-');
  if (!take('0') && !scanDigits())
    return false;
  if (take('.') && !scanDigits())
    return false;
  if (take('e') || take('E')) {
    if (!take('+'))
      take('-');
    return scanDigits();
  }
  return true;
}

bool JsonObject::scanWord(std::string_view word) {
  if (!text_.substr(at_).starts_with(word))
    return fail("a value");
  at_ += word.size();
  return true;
}

bool JsonObject::scanScalar() {
  switch (at_ < text_.size() ? text_[at_] : '\0') {
  case '"':
    return scanString();
  case 't':
    return scanWord("true");
  case 'f':
    return scanWord("false");
  case 'n':
    return scanWord("null");
  default:
    if (at_ < text_.size() && (text_[at_] == '-' || isDigit(text_[at_])))
      return scanNumber();
    return fail("a value");
  }
}

/// A value and all that is in it, without recursion: a bit for each bracket
/// that is open says whether it is one of an object.
bool JsonObject::scanValue() {
  uint64_t objects = 0;
  int depth = 0;
  for (;;) {
    skipSpace();
    bool opened = false;
    char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c == '{' || c == '[') {
      if (++depth == kDeepest) // the object of the line is one of them
        return failAt(at_,
                      fmt::format("expected values at most {} deep", kDeepest));
      objects = objects << 1 | (c == '{');
      ++at_;
      opened = true;
    } else if (!scanScalar())
      return false;
    // Close what ends here; then go on to the next value of what is open.
    for (;;) {
      if (depth == 0)
        return true;
      bool object = objects & 1;
      skipSpace();
      if (take(object ? '}' : ']')) {
        objects >>= 1;
        --depth;
        opened = false;
        continue;
      }
      if (!opened && !take(','))
        return fail(object ? "',' or '}'" : "',' or ']'");
      skipSpace();
      if (object) {
        if (!scanString())
          return false;
        skipSpace();
        if (!take(':'))
          return fail("':' behind a key");
      }
      break;
    }
  }
}

bool JsonObject::next(JsonMember &out) {
  if (state_ == State::end)
    return false;
  skipSpace();
  if (state_ == State::begin) {
    if (!take('{'))
      return fail("'{'");
    state_ = State::first;
    skipSpace();
  }
  if (take('}')) {
    state_ = State::end;
    skipSpace();
    return at_ == text_.size() ? false : fail("the end behind '}'");
  }
  if (state_ == State::more && !take(','))
    return fail("',' or '}'");
  state_ = State::more;
  skipSpace();
  size_t key = at_;
  if (!scanString())
    return false;
  out.key = text_.substr(key + 1, at_ - key - 2);
  skipSpace();
  if (!take(':'))
    return fail("':' behind a key");
  skipSpace();
  size_t value = at_;
  if (!scanValue())
    return false;
  out.value = text_.substr(value, at_ - value);
  return true;
}

namespace {

uint32_t hexAt(std::string_view text, size_t at) {
  uint32_t value = 0;
  for (char c : text.substr(at, 4))
    value = value << 4 | (isDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
  return value;
}

/// Half of a surrogate pair.
constexpr uint32_t kHalf = UINT32_MAX;

/// The code point of a \u escape at byte `at`, with the second of a pair, or
/// kHalf; moves `at` behind it.
uint32_t decodeUnicodeEscape(std::string_view text, size_t &at) {
  uint32_t code = hexAt(text, at + 2);
  at += 6;
  if (code < 0xD800 || code >= 0xE000)
    return code;
  if (code >= 0xDC00 || !text.substr(at).starts_with("\\u"))
    return kHalf;
  uint32_t low = hexAt(text, at + 2);
  if (low < 0xDC00 || low >= 0xE000)
    return kHalf;
  at += 6;
  return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
}

char decodeShortEscape(char c) {
  constexpr std::string_view names = "bfnrt", values = "\b\f\n\r\t";
  size_t place = names.find(c);
  return place == names.npos ? c : values[place];
}

} // namespace

bool decodeJsonText(std::string_view quoted, std::string &out, bool replaces) {
  out.clear();
  for (size_t at = 0; at < quoted.size();) {
    size_t escape = std::min(quoted.find('\\', at), quoted.size());
    out += quoted.substr(at, escape - at);
    at = escape;
    if (at == quoted.size())
      break;
    if (quoted[at + 1] == 'u') {
      uint32_t code = decodeUnicodeEscape(quoted, at);
      if (code == kHalf && !replaces)
        return false;
      appendCodePoint(code == kHalf ? 0xFFFD : code, out);
      continue;
    }
    out += decodeShortEscape(quoted[at + 1]);
    at += 2;
  }
  return true;
}

void appendJsonText(std::string_view text, std::string &out) {
  out += '"';
  for (char c : text) {
    constexpr std::string_view plain = "\"\\\b\f\n\r\t", names = "\"\\bfnrt";
    if (size_t place = plain.find(c); place != plain.npos) {
      out += '\\';
      out += names[place];
    } else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  out += '"';
}

} // namespace mtc::data
