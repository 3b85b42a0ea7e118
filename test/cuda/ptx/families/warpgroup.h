//===- warpgroup.h - handlers of wgmma --------------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_FAMILIES_WARPGROUP_H
#define MTC_TEST_CUDA_PTX_FAMILIES_WARPGROUP_H

#include "test/cuda/ptx/machine/block.h"

namespace mtc::ptx {

// warpgroup_product.cpp; the operands are Code::products[i.target], and the
// last of i.from is the scale of D.
bool multiplyBf16(Warp &warp, const Instruction &i);
bool multiplyF16(Warp &warp, const Instruction &i);
// warpgroup_order.cpp
bool fenceProducts(Warp &warp, const Instruction &i);
bool commitProducts(Warp &warp, const Instruction &i);
bool waitForProducts(Warp &warp, const Instruction &i);
bool fenceProxy(Warp &warp, const Instruction &i);

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_FAMILIES_WARPGROUP_H
