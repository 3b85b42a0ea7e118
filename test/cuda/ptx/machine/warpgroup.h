//===- warpgroup.h - four warps that multiply together ----------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_WARPGROUP_H
#define MTC_TEST_CUDA_PTX_MACHINE_WARPGROUP_H

#include "test/cuda/ptx/machine/block.h"

#include <optional>

namespace mtc::ptx {

/// What a warp multiplies.
struct Factors {
  std::optional<MatrixTile> left; ///< none: in registers
  std::optional<MatrixTile> right;
  bool scaled = false; ///< D = A * B + D
};

/// A warp comes to a product, which all lanes and all warps of its group must
/// come to in the same way. False: a fault.
bool comeToProduct(Warp &warp, const Instruction &by, Factors &factors);

/// All warps have ended: whether each product had all warps of its group.
/// False: a fault.
bool allCame(Block &block);

// product_tiles.cpp

/// Tiles of a product are read from now on until its wait: they lie in shared
/// memory, are written, visible to wgmma and ordered behind their writers.
/// False: a fault.
bool takeTiles(Warp &warp, const Instruction &by, const Factors &factors);
/// The products of all groups below `group` are done.
void finishProducts(Warp &warp, uint32_t group);

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MACHINE_WARPGROUP_H
