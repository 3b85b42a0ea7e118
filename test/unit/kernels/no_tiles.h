//===- no_tiles.h - what kernels by tiles leave -----------------*- C++ -*-===//
#ifndef MTC_TEST_UNIT_KERNELS_NO_TILES_H
#define MTC_TEST_UNIT_KERNELS_NO_TILES_H

#include <algorithm>
#include <cstdint>

namespace mtc::test {

/// Whether this thread has no tiles: what is left of them costs at each switch
/// to another thread. The processor must have some.
inline bool hasNoTiles() {
  struct alignas(64) {
    uint8_t bytes[64] = {1};
  } shapes;
  __asm__ volatile("sttilecfg %0" : "=m"(shapes));
  return std::ranges::count(shapes.bytes, 0) == 64;
}

} // namespace mtc::test
#endif // MTC_TEST_UNIT_KERNELS_NO_TILES_H
