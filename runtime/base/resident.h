//===- resident.h - the memory that a process has ---------------*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_RESIDENT_H
#define MTC_RUNTIME_BASE_RESIDENT_H

#include <cstdint>

namespace mtc::runtime {

/// Bytes of this process that are in memory now (proc(5), statm), those that it
/// shares with others included; 0 if the kernel does not say. Allocates
/// nothing.
int64_t residentBytes();

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_RESIDENT_H
