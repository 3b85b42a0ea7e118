//===- sha256.h - SHA-256 of a text, for comparing plans --------*- C++ -*-===//
#ifndef MTC_TEST_UNIT_SCHEDULES_SHA256_H
#define MTC_TEST_UNIT_SCHEDULES_SHA256_H

#include <string>
#include <string_view>

namespace mtc::schedules::test {

/// 64 hex digits (FIPS 180-4).
std::string sha256(std::string_view text);

} // namespace mtc::schedules::test
#endif // MTC_TEST_UNIT_SCHEDULES_SHA256_H
