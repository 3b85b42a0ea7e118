//===- unicode.cpp - code points of texts and their kinds -----------------===//

#include "tools/data/unicode.h"

#include <vector>

namespace mtc::data {
namespace {

constexpr uint32_t kCodes = 0x110000;

/// What a first byte promises, and what its second byte may be (Unicode 16,
/// table 3-7); the bytes behind that are 80 to BF.
struct Lead {
  int bytes = 0; ///< 0: no first byte
  uint8_t least = 0x80, most = 0xBF;
};

constexpr Lead leadOf(uint8_t byte) {
  if (byte >= 0xC2 && byte <= 0xDF)
    return {2};
  if (byte >= 0xE0 && byte <= 0xEF)
    return {3, uint8_t(byte == 0xE0 ? 0xA0 : 0x80),
            uint8_t(byte == 0xED ? 0x9F : 0xBF)};
  if (byte >= 0xF0 && byte <= 0xF4)
    return {4, uint8_t(byte == 0xF0 ? 0x90 : 0x80),
            uint8_t(byte == 0xF4 ? 0x8F : 0xBF)};
  return {};
}

std::vector<CharKind> makeKinds() {
  std::vector<CharKind> kinds(kCodes, CharKind::other);
  auto set = [&](std::span<const CodeRange> ranges, CharKind kind) {
    for (const CodeRange &range : ranges)
      for (uint32_t code = range.first; code <= range.last; ++code)
        kinds[code] = kind;
  };
  set(letterRanges(), CharKind::letter);
  set(numberRanges(), CharKind::number);
  set(spaceRanges(), CharKind::space);
  return kinds;
}

} // namespace

CodePoint codePointAt(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  uint8_t first = byte(at);
  if (first < 0x80)
    return {first, 1, true};
  Lead lead = leadOf(first);
  uint32_t value = first & (0x7F >> lead.bytes);
  int read = 1;
  for (; read < lead.bytes && at + read < text.size(); ++read) {
    uint8_t next = byte(at + read);
    if (next < (read == 1 ? lead.least : 0x80) ||
        next > (read == 1 ? lead.most : 0xBF))
      break;
    value = value << 6 | (next & 0x3F);
  }
  bool whole = lead.bytes > 0 && read == lead.bytes;
  return {whole ? value : 0, read, whole};
}

size_t firstInvalidByte(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    CodePoint point = codePointAt(text, at);
    if (!point.valid)
      return at;
    at += point.bytes;
  }
  return text.size();
}

void appendCodePoint(uint32_t code, std::string &out) {
  auto add = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80)
    return add(code);
  if (code < 0x800)
    add(0xC0 | code >> 6);
  else {
    if (code < 0x10000)
      add(0xE0 | code >> 12);
    else {
      add(0xF0 | code >> 18);
      add(0x80 | (code >> 12 & 0x3F));
    }
    add(0x80 | (code >> 6 & 0x3F));
  }
  add(0x80 | (code & 0x3F));
}

CharKind kindOf(uint32_t code) {
  static const std::vector<CharKind> kinds = makeKinds();
  return code < kCodes ? kinds[code] : CharKind::other;
}

} // namespace mtc::data
