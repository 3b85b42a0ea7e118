//===- run.h - which instruction of a warp comes next -----------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_RUN_H
#define MTC_TEST_CUDA_PTX_MACHINE_RUN_H

#include "test/cuda/ptx/machine/block.h"

namespace mtc::ptx {

/// Runs a warp for at most `span` instructions: to the end of its threads, to a
/// barrier at which it waits, or to a fault, which the block then has.
void runWarp(Warp &warp, uint64_t span);

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MACHINE_RUN_H
