// Products of bf16 for x86-64-v4-amx; CMakeLists.txt gives this file's -march.
#ifndef __AMX_TILE__
#error "the headers have no tiles without this macro, which -mamx-tile defines"
#endif

#include "runtime/kernels/cpu/gemm_own_amx.h"

namespace mtc::runtime {
static constexpr OwnBlocks kTileBlocks = {.ownUnits = 200'000,
                                          .ownUnitsBesideRows = 200'000,
                                          .ownRows = 512,
                                          .isByRows = true,
                                          .multiply = multiplyTiles};
const OwnKernels kOwnAmx = {.rows = kTileBlock,
                            .columns = kPanelColumns,
                            .panelRows = kTileBlock,
                            .elementsPerUnit = 2,
                            .unitsPerStep = kTileSide,
                            .usual = kTileBlocks,
                            .large = kTileBlocks,
                            .thenPanels = kSomePanels,
                            .readsRows = true,
                            .packsAlong = false,
                            .fillsWindows = kFillsWindows,
                            .packRows = packLines,
                            .packColumns = packTileColumns};
static_assert(kWindowValues >= kTileBlock * kSumColumns,
              "a window has room for a row of blocks");
} // namespace mtc::runtime
