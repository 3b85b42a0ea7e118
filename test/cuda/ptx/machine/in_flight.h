//===- in_flight.h - products of a warp that are not waited for -*- C++ -*-===//
//
// wgmma.mma_async is done at some time before the wgmma.wait_group that covers
// its group. Until then its registers are nobody's, and its tiles are not to be
// written.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_IN_FLIGHT_H
#define MTC_TEST_CUDA_PTX_MACHINE_IN_FLIGHT_H

#include "test/cuda/ptx/decode/instruction.h"
#include "test/cuda/ptx/machine/matrix_tile.h"

#include <vector>

namespace mtc::ptx {

constexpr int kWarpsOfGroup = 4; ///< of a warpgroup

/// Of one of Code::watched, in all lanes of a warp. Times are numbers of
/// wgmma.fence.
struct WatchedRegister {
  uint32_t touched = 0;            ///< by any other instruction
  const Instruction *by = nullptr; ///< the product that used it last
  uint32_t group = 0;              ///< of that one
  uint32_t used = 0;               ///< the time of it
  bool isSum = false;              ///< of D, not of A
  unsigned position = 0;           ///< within D
};

struct ProductInFlight {
  const Instruction *by;
  uint32_t group;
  std::vector<MatrixTile> tiles;
};

/// A warp's.
struct InFlight {
  std::vector<WatchedRegister> registers;
  std::vector<ProductInFlight> products;
  uint32_t fences = 0;  ///< wgmma.fence
  uint32_t group = 0;   ///< that products belong to until the next commit
  uint32_t waited = 0;  ///< groups below it are done
  uint64_t started = 0; ///< products of the warp

  void reset(size_t watched) {
    registers.assign(watched, {});
    products.clear();
    fences = group = waited = 0;
    started = 0;
  }
};

/// A fence.proxy.async of some lanes of a warp: what they wrote until then is
/// visible to wgmma, to those who know of a later time.
struct ProxyFence {
  uint32_t time;
  uint32_t lanes;
};

/// A product that not all warps of a warpgroup have come to yet.
struct OpenProduct {
  const Instruction *by;
  uint64_t left, right; ///< descriptors
  bool scaled;          ///< D = A * B + D
  uint32_t came;        ///< a bit per warp of the group
};

struct Warpgroup {
  uint64_t complete = 0; ///< products that all have come to
  std::vector<OpenProduct> open;
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MACHINE_IN_FLIGHT_H
