//===- registers.h - when registers may be read and written -----*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_REGISTERS_H
#define MTC_TEST_CUDA_PTX_MACHINE_REGISTERS_H

#include "test/cuda/ptx/machine/block.h"

namespace mtc::ptx {

/// Whether some lanes have written one of Code::tracked. False: a fault.
bool isWritten(Warp &warp, const Instruction &by, uint32_t tracked,
               uint32_t lanes);

/// An instruction but wgmma touches its registers of Code::watched, none of
/// which a product may have yet. False: a fault.
bool touchWatched(Warp &warp, const Instruction &by);

/// A product takes its registers: none is another's, but for sums that follow
/// each other, and a wgmma.fence lies behind what else touched them. `scaled`:
/// sums are read. False: a fault.
bool takeRegisters(Warp &warp, const Instruction &by, bool scaled);

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MACHINE_REGISTERS_H
