//===- access.h - checked accesses of lanes to memory -----------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_ACCESS_H
#define MTC_TEST_CUDA_PTX_MACHINE_ACCESS_H

#include "test/cuda/ptx/machine/block.h"

namespace mtc::ptx {

/// Where the bytes of an access are: null after a fault.
///
/// `address` is of `space`; a generic one goes to the window it lies in. An
/// access is aligned to its `bytes`: 1, 2, 4, 8 or 16. `value` is what a write
/// will put there, or null: lanes of one instruction may write the same.
std::byte *access(Warp &warp, const Instruction &by, Space space,
                  uint64_t address, unsigned bytes, Access kind, int lane,
                  const void *value = nullptr);

/// Whom a tag of a block stands for, in words.
std::string threadOf(Tag tag, const Block &block);

/// The address of a lane, before any check.
inline uint64_t addressOf(Warp &warp, uint32_t place, uint8_t base,
                          int64_t offset, int lane) {
  return uint64_t(offset) + (base == 0 ? 0 : warp.read(place, base, lane));
}

/// Of one lane that takes part.
inline uint64_t someAddress(Warp &warp, uint32_t place, uint8_t base,
                            int64_t offset) {
  return addressOf(warp, place, base, offset, __builtin_ctz(warp.active));
}

/// Bytes of shared memory that a copy will arrive in: checked as written, and
/// not to be touched until then. False: a fault.
bool expectCopy(Warp &warp, const Instruction &by, uint64_t address,
                unsigned bytes, int lane);
/// The same bytes, once it arrives.
std::byte *arriveCopy(Warp &warp, const Instruction &by, uint64_t address,
                      unsigned bytes, int lane);

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MACHINE_ACCESS_H
