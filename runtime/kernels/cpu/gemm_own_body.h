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

using mtc::runtime::OwnBlocks;
using mtc::runtime::OwnKernels;

template <typename Terms, typename Units>
constexpr OwnBlocks kUsualBlocks = {
    .ownUnits = 100'000,
    .ownUnitsBesideRows = 50'000,
    .ownRows = 64,
    .isByRows = false,
    .multiply = multiplyBlock<Terms, Units, FetchesAtOnce>};
#ifdef __AVX512F__
/// Op(a) comes from afar once for a block of op(b), not once for each panel.
template <typename Terms, typename Units>
constexpr OwnBlocks kLargeBlocks = {
    .ownUnits = 100'000,
    .ownUnitsBesideRows = 100'000,
    .ownRows = 96,
    .isByRows = true,
    .multiply = multiplyBlock<Terms, Units, FetchesByRow>};
#else
template <typename Terms, typename Units>
constexpr OwnBlocks kLargeBlocks = kUsualBlocks<Terms, Units>;
#endif

template <typename Terms, typename Units>
constexpr OwnKernels kVectorKernels = {.rows = kTileRows,
                                       .columns = kPanelColumns,
                                       .panelRows = kPanelRows,
                                       .elementsPerUnit = Units::kElements,
                                       .unitsPerStep = 1,
                                       .usual = kUsualBlocks<Terms, Units>,
                                       .large = kLargeBlocks<Terms, Units>,
                                       .thenPanels = 2,
                                       .readsRows = kIsPlain<Units>,
                                       .packsAlong = kIsPlain<Units>,
                                       .fillsWindows = kFillsWindows,
                                       .packRows = packPanels<Units>,
                                       .packColumns = packPanels<Units>};

template <typename E>
constexpr OwnKernels kWideKernels = kVectorKernels<FloatTerms, WideUnits<E>>;
#ifdef __AVX512BF16__
constexpr OwnKernels kPairKernels = kVectorKernels<PairTerms, PairUnits>;
#endif

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_BODY_H
