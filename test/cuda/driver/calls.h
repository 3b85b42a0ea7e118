//===- calls.h - what a program puts into streams, in a file ----*- C++ -*-===//
#ifndef MTC_TEST_CUDA_DRIVER_CALLS_H
#define MTC_TEST_CUDA_DRIVER_CALLS_H

#include <cstdint>
#include <string>

namespace mtc::standin {

/// Whether MTC_STANDIN_CALLS names a file.
bool notesCalls();
/// Puts "rank 1: STREAM: WHAT" at the end of that file; without a rank of mtc
/// the line begins with the stream. Ranks may share it.
void noteCall(const std::string &stream, const std::string &what);

/// A number as messages have it: "0x7f00".
std::string hex(uint64_t number);

} // namespace mtc::standin
#endif // MTC_TEST_CUDA_DRIVER_CALLS_H
