//===- barriers.h - where warps of a block wait for each other --*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_BARRIERS_H
#define MTC_TEST_CUDA_PTX_MACHINE_BARRIERS_H

#include "test/cuda/ptx/machine/block.h"

namespace mtc::ptx {

/// A warp comes to a barrier: `expected` threads are to come to it, 0 all of
/// the block. It then waits if `waits` says so, until the last one comes.
/// False: a fault.
bool arrive(Warp &warp, const Instruction &by, uint32_t id, uint32_t expected,
            bool waits);

/// What threads that ended leave: barriers that are complete without them.
void completeWithoutEnded(Block &block);

/// Warps wait and none can run: a fault that tells where they wait.
void tellDeadlock(Block &block);

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MACHINE_BARRIERS_H
