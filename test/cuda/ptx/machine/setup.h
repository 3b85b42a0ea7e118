//===- setup.h - blocks before they run -------------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_SETUP_H
#define MTC_TEST_CUDA_PTX_MACHINE_SETUP_H

#include "test/cuda/ptx/machine/block.h"

namespace mtc::ptx {

/// Registers, constants and shared memory, once for a launch.
void setUp(Block &block);
/// Threads at their first instruction, special registers, memory unwritten.
/// `number` is of the grid, x first.
void startBlock(Block &block, uint64_t number);

/// All numbers below `count` once, in an order by seed, without a list of them:
/// a grid may have 2^31 blocks.
class BlockOrder {
public:
  BlockOrder(uint64_t count, Random &random);
  uint64_t at(uint64_t k) const;

private:
  uint64_t count_, first_, step_;
  std::vector<uint32_t> list_; ///< of small grids: any order
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MACHINE_SETUP_H
