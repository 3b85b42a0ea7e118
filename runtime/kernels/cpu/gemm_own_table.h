//===- gemm_own_table.h - products of one instruction set -------*- C++ -*-===//
//
// Internal. What gemm_own.cpp calls: packing and multiplying a block, compiled
// once per instruction set. Included by those objects, so it defines no inline
// function (kernel_table.h says why).
//
// A packed panel is `width` rows of op(a), or columns of op(b), one unit of k
// after the other: to[unit · width + row]. A unit has 4 bytes: an element in
// fp32, or two neighbours along k in bf16.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_TABLE_H
#define MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_TABLE_H

#include "mtc/runtime/abi.h"

namespace mtc::runtime {

/// Rows of a panel of op(a), in every instruction set.
inline constexpr int64_t kPanelRows = 8;

/// Element (row, k) is at from[row · stride + k] if `alongK`, else at
/// from[k · stride + row], in elements. What a panel has beyond `rows` and
/// `depth` is zero.
struct PackCall {
  const void *from;
  int64_t stride;
  bool alongK;
  int64_t rows, depth;
  int64_t width;
  float *to; ///< 64-aligned
};

/// Where a block's sums begin, and where they go.
enum class Sums : int32_t { zero, inC, inFloats };

/// A block of c: of panels of `depth` units, whose sums ascend along k.
struct BlockCall {
  const float *a, *b; ///< packed, from the block's first row and column on
  int64_t depth;
  int64_t rows, columns;
  Sums from, to;
  float *floats; ///< of the block's first element; null where no sum is there
  int64_t floatStride;
  void *c;
  int64_t stride;
  MtcDtype type; ///< of c
};

/// Products of one type of operands.
struct OwnKernels {
  int64_t columns;         ///< of a panel of op(b)
  int64_t elementsPerUnit; ///< along k
  void (*pack)(const PackCall &);
  void (*multiply)(const BlockCall &);
};

struct OwnKernelSet {
  OwnKernels f32, bf16, f16;
};
extern const OwnKernelSet kOwnV3, kOwnV4, kOwnV4Bf16;

} // namespace mtc::runtime
#endif // MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_TABLE_H
