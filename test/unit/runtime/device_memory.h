//===- device_memory.h - looks into the arenas of the cpu -------*- C++ -*-===//
#ifndef MTC_TEST_UNIT_RUNTIME_DEVICE_MEMORY_H
#define MTC_TEST_UNIT_RUNTIME_DEVICE_MEMORY_H

#include "runtime/program/rank.h"

namespace mtc::runtime::test {

/// What lies in an arena of a rank on the plain cpu.
template <typename T>
T *in(RankState &rank, MtcArena arena, int64_t offset = 0) {
  return static_cast<T *>(rank.address({arena, offset}));
}

} // namespace mtc::runtime::test
#endif // MTC_TEST_UNIT_RUNTIME_DEVICE_MEMORY_H
