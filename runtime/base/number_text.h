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

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_NUMBER_TEXT_H
