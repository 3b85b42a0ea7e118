//===- gemm_own_table.h - products of one instruction set -------*- C++ -*-===//
//
// Internal. What gemm_own.cpp calls: packing and multiplying a block, compiled
// once per instruction set. Included by those objects, so it defines no inline
// function (kernel_table.h says why).
//
// A packed panel is `width` rows of op(a), or columns of op(b), one unit of k
// after the other: to[unit · width + row]. A unit has 4 bytes: an element in
// fp32, or two neighbours along k in bf16. For tiles (AMX) a panel of op(a) has
// a line of 16 units of each row, then the next 16 units.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_TABLE_H
#define MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_TABLE_H

#include "mtc/runtime/abi.h"
#include "runtime/kernels/cpu/norm_window.h"

namespace mtc::runtime {

/// Rows of a panel of op(a) where sums are in vectors.
inline constexpr int64_t kPanelRows = 8;

/// Element (row, k) is at from[row · stride + k] if `alongK`, else at
/// from[k · stride + row], in elements. What a panel has beyond `rows` and
/// `depth` is zero. With `streams`, of panels of op(b), what is written is not
/// to stay in the caches, as memory that nobody reads soon. AVX2, whose vectors
/// are half lines, takes no notice of that.
struct PackCall {
  const void *from;
  int64_t stride;
  bool alongK;
  int64_t rows, depth;
  int64_t units; ///< of the panel: enough for `depth`, or more
  int64_t width;
  float *to; ///< 64-aligned
  bool streams = false;
};

/// Where a block's sums begin, and where they go.
enum class Sums : int32_t { zero, inC, inFloats };

/// Lines of memory that are to be in the second-level cache behind a block:
/// what the next one packs. Each take moves on.
struct Ahead {
  const char *at;          ///< the next line
  int64_t stride;          ///< bytes from row to row
  int64_t lines, line = 0; ///< of a row; which of them is next
  int64_t left;            ///< in all rows
  int64_t wait;            ///< takes that take nothing before the first one
  int64_t each;            ///< of a take
};

/// A block of c: of panels of `depth` units, whose sums ascend along k.
struct BlockCall {
  const void *a; ///< from the block's first row on
  int64_t
      aStride; ///< 0: packed; else units from row to row, as memory has them
  bool byRows; ///< the rows of a register block with all panels, then the next
               ///< ones; else a panel with all rows. Tiles are always by rows
  float *b;    ///< packed, from the block's first column on
  /// Of op(b) what is to be packed there, as memory has it across k, from the
  /// block's first unit and column on; null where all of it is packed.
  const void *unpacked;
  int64_t unpackedStride; ///< elements from k to k
  int64_t depth;
  int64_t rows, columns;
  Sums from, to;
  float *floats; ///< sums in place of c's, of the block's first element
  int64_t floatStride;
  void *c;
  int64_t stride;
  MtcDtype type;      ///< of c
  int64_t rowsBefore; ///< of this thread, with the same columns of b, which
                      ///< then lie in its caches
  bool streams;       ///< what goes to c is not to stay in the caches; no fence
                      ///< follows
  Ahead *ahead;       ///< null: nothing is
  /// Gets the squares of what goes to c, in fp32, padding of panels among it,
  /// which is zero where c is finite; null: nobody asks.
  NormWindow *window;
};

/// Units of k between two takes of what is ahead.
inline constexpr int64_t kChunk = 16;

/// How a product is cut for a core's second-level cache, and in which order its
/// blocks are made. No bit depends on that.
struct OwnBlocks {
  /// Units of op(b) that a thread packs for itself, which fit the cache with
  /// what comes next; and where rows of op(a) are read as they are, which then
  /// lie there, too.
  int64_t ownUnits, ownUnitsBesideRows;
  int64_t ownRows; ///< of op(a) that a thread packs for itself
  bool isByRows;   ///< BlockCall::byRows, of rows that the team packed
  void (*multiply)(const BlockCall &);
};

/// Products of one type of operands.
struct OwnKernels {
  int64_t rows, columns;   ///< of a block of sums in registers
  int64_t panelRows;       ///< of a panel of op(a)
  int64_t elementsPerUnit; ///< along k
  int64_t unitsPerStep;    ///< panels have whole steps
  OwnBlocks usual, large;  ///< by SecondLevel
  int64_t thenPanels; ///< of op(b) that are made before what continues them
  bool readsRows;     ///< units are what memory has: op(a) need not be packed
  bool packsAlong;    ///< BlockCall::unpacked may be set
  bool fillsWindows;  ///< of BlockCall
  void (*packRows)(const PackCall &);    ///< panels of op(a)
  void (*packColumns)(const PackCall &); ///< of op(b)
};

extern const OwnKernels kOwnF32V3, kOwnBf16V3, kOwnF16V3;
extern const OwnKernels kOwnF32V4, kOwnBf16V4, kOwnF16V4;
extern const OwnKernels kOwnF32V4Bf16, kOwnBf16V4Bf16, kOwnF16V4Bf16;
/// Of bf16, by tiles.
extern const OwnKernels kOwnAmx;

} // namespace mtc::runtime
#endif // MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_TABLE_H
