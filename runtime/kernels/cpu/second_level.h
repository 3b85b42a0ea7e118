//===- second_level.h - caches that blocks of products are cut for --------===//
//
// Products of our own are cut and made in one of two ways, with the same bits:
// which is faster depends on the second-level cache of a core.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_SECOND_LEVEL_H
#define MTC_RUNTIME_KERNELS_CPU_SECOND_LEVEL_H

#include <cstdint>

namespace mtc::runtime {

/// large: 2 MiB, as Intel's server processors have from Sapphire Rapids on.
enum class SecondLevel { usual, large };

/// Bytes of the second-level cache by CPUID; 0 where it says nothing of one.
int64_t secondLevelBytes();

/// Of a cache of so many bytes. Virtual machines say 0, or by QEMU's default
/// 4 MiB, of whatever is below them: that is none that is known.
SecondLevel secondLevelOf(int64_t bytes);

/// Of this processor, which is asked once.
SecondLevel secondLevelHere();

} // namespace mtc::runtime
#endif // MTC_RUNTIME_KERNELS_CPU_SECOND_LEVEL_H
