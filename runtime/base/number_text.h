//===- number_text.h - numbers for people -----------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_NUMBER_TEXT_H
#define MTC_RUNTIME_BASE_NUMBER_TEXT_H

#include <cstdint>
#include <string>

namespace mtc::runtime {

/// 1234567 -> "1,234,567".
std::string grouped(int64_t number);

/// Bytes in the largest unit that they reach: "17 B", "1.4 MiB".
std::string sized(int64_t bytes);

/// Seconds as milliseconds, in at most seven characters below 10,000 s:
/// "12.345", "12345".
std::string inMilliseconds(double seconds);

/// A number in the largest unit that it reaches, in at most six characters:
/// "12.3G".
std::string scaled(double number);

/// A line for people of at most 100 columns; of a longer one the end is left
/// out, which "..." says.
std::string shortLine(std::string line);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_NUMBER_TEXT_H
