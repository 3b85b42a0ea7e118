#include "runtime/kernels/cpu/second_level.h"

#include <cpuid.h>

namespace mtc::runtime {

/// A list of caches, one a subleaf: leaf 4 of Intel's processors (Software
/// Developer's Manual, volume 2, CPUID), 8000001dh of AMD's (Architecture
/// Programmer's Manual, volume 3), whose fields are the same.
static int64_t secondLevelIn(unsigned leaf) {
  constexpr unsigned kMostCaches = 16; // against a list without an end
  for (unsigned i = 0; i < kMostCaches; ++i) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(leaf, i, &a, &b, &c, &d) || (a & 31) == 0)
      return 0;
    if ((a >> 5 & 7) != 2)
      continue;
    int64_t line = (b & 0xfff) + 1, partitions = (b >> 12 & 0x3ff) + 1,
            ways = (b >> 22) + 1, sets = int64_t(c) + 1;
    return line * partitions * ways * sets;
  }
  return 0;
}

int64_t secondLevelBytes() {
  int64_t bytes = secondLevelIn(4);
  return bytes > 0 ? bytes : secondLevelIn(0x8000001d);
}

SecondLevel secondLevelOf(int64_t bytes) {
  constexpr int64_t kMiB = 1 << 20;
  return bytes >= 2 * kMiB && bytes < 4 * kMiB ? SecondLevel::large
                                               : SecondLevel::usual;
}

SecondLevel secondLevelHere() {
  static const SecondLevel here = secondLevelOf(secondLevelBytes());
  return here;
}

} // namespace mtc::runtime
