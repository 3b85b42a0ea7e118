//===- gemm_own_body.h - the products of one instruction set ----*- C++ -*-===//
//
// Internal, per instruction set (see simd.h).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_BODY_H
#define MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_BODY_H

#include "runtime/kernels/cpu/gemm_own_pack.h"
#include "runtime/kernels/cpu/gemm_own_tile.h"

namespace {

using mtc::runtime::OwnKernels;

template <typename E>
constexpr OwnKernels kWideKernels = {kTileRows,
                                     kPanelColumns,
                                     1,
                                     sizeof(E) == 4,
                                     packPanels<WideUnits<E>>,
                                     multiplyBlock<FloatTerms>};
#ifdef __AVX512BF16__
constexpr OwnKernels kPairKernels = {
    kTileRows, kPanelColumns,         2,
    true,      packPanels<PairUnits>, multiplyBlock<PairTerms>};
#endif

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_BODY_H
