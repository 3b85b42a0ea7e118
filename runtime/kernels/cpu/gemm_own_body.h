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
                                     kIsPlain<WideUnits<E>>,
                                     kFillsWindows,
                                     packPanels<WideUnits<E>>,
                                     multiplyBlock<FloatTerms, WideUnits<E>>};
#ifdef __AVX512BF16__
constexpr OwnKernels kPairKernels = {kTileRows,
                                     kPanelColumns,
                                     2,
                                     kIsPlain<PairUnits>,
                                     kFillsWindows,
                                     packPanels<PairUnits>,
                                     multiplyBlock<PairTerms, PairUnits>};
#endif

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_BODY_H
