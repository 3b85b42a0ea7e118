//===- byte_alphabet.h - bytes as characters --------------------*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_BYTE_ALPHABET_H
#define MTC_TOOLS_DATA_BYTE_ALPHABET_H

#include <cstdint>
#include <string>
#include <string_view>

namespace mtc::data {

/// The character that stands for a byte in GPT-2's files of a vocabulary: of
/// the bytes 0x21 to 0x7E, 0xA1 to 0xAC and 0xAE to 0xFF the code point of the
/// same number; the others, which people would not see, in ascending order from
/// U+0100 on.
uint32_t characterOf(uint8_t byte);

/// The bytes that a symbol of these files stands for. False if it has a
/// character of no byte.
bool bytesOf(std::string_view symbol, std::string &out);

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_BYTE_ALPHABET_H
