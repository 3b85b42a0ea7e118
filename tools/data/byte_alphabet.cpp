//===- byte_alphabet.cpp - bytes as characters ----------------------------===//

#include "tools/data/byte_alphabet.h"

#include "tools/data/unicode.h"

#include <array>

namespace mtc::data {
namespace {

constexpr bool isVisible(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
}

constexpr std::array<uint16_t, 256> makeCharacters() {
  std::array<uint16_t, 256> characters = {};
  uint16_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte)
    characters[byte] = isVisible(byte) ? uint16_t(byte) : next++;
  return characters;
}
constexpr auto kCharacters = makeCharacters();

/// By character: its byte, or -1.
constexpr std::array<int16_t, 0x180> makeBytes() {
  std::array<int16_t, 0x180> bytes = {};
  for (int16_t &byte : bytes)
    byte = -1;
  for (int byte = 0; byte < 256; ++byte)
    bytes[kCharacters[byte]] = int16_t(byte);
  return bytes;
}
constexpr auto kBytes = makeBytes();

} // namespace

uint32_t characterOf(uint8_t byte) { return kCharacters[byte]; }

bool bytesOf(std::string_view symbol, std::string &out) {
  out.clear();
  for (size_t at = 0; at < symbol.size();) {
    CodePoint point = codePointAt(symbol, at);
    if (!point.valid || point.value >= kBytes.size() || kBytes[point.value] < 0)
      return false;
    out += static_cast<char>(kBytes[point.value]);
    at += point.bytes;
  }
  return true;
}

} // namespace mtc::data
