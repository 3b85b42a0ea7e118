//===- kernel_table.h - one set of kernels per instruction set --*- C++ -*-===//
//
// Internal. The bodies (attention_forward.h, norm_body.h and others) are
// compiled once per instruction set into a table of functions; kernel_sets.h
// says which a program has, isa.cpp picks one. This header is included by those
// objects, so it defines no inline function: a copy built for a higher
// instruction set must not become the program's only one.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_KERNEL_TABLE_H
#define MTC_RUNTIME_KERNELS_CPU_KERNEL_TABLE_H

#include "mtc/runtime/abi.h"

namespace mtc::runtime {

/// Tokens of a tile of scores, and the multiple to which head_dim is padded in
/// scratch; the same in every instruction set, so scratch sizes are too.
inline constexpr int64_t kTile = 64;
inline constexpr int64_t kHeadPad = 32;

/// What both attention kernels receive beside their own pointers.
struct AttentionCall {
  const MtcAttention *shape;
  const void *q, *k, *v;    ///< of shape->dtype
  const int32_t *documents; ///< of each query, [batch, seq]; null: none
  float *scratch;           ///< 64-aligned; of this thread
  /// What this thread does: the heads [firstHead, endHead) of all samples, one
  /// sample after the other. Query heads in the forward call, key heads, each
  /// with its query heads, in the backward one.
  int64_t firstHead, endHead;
  uint64_t seed;
  int64_t sample, head;
  int64_t begin[2];       ///< position of the first query of each range
  uint32_t dropThreshold; ///< drop where word < this; 0: no dropout
  float dropScale;
};

/// At most this many values per call of normChunk: the sum of their digits, of
/// 2^51 at most, then stays below 2^63.
inline constexpr int64_t kNormChunk = 1024;

/// A sum of squares: digit[i]·2^position[i] for i below `count`, in units of
/// 2^-298. Positions are in [0, 503], 52 apart but for the last.
struct NormDigits {
  static constexpr int kMost = 11;
  int count;
  int position[kMost];
  int64_t digit[kMost];
};

/// What the backward kernel receives beside; all but lse of shape->dtype.
struct AttentionGradients {
  const void *dout, *out;
  const float *lse;
  void *dq, *dk, *dv;
};

struct AttentionKernels {
  void (*forward)(const AttentionCall &, void *out, float *lse);
  void (*backward)(const AttentionCall &, const AttentionGradients &);
};

struct KernelTable {
  AttentionKernels attention;
  /// Exactly. False, with *digits undefined, if some value is not finite.
  bool (*normChunk)(const float *g, int64_t count, NormDigits *digits);
  /// Elements [first, first + count) of a parameter whose name has hash `id`:
  /// plainNormal of their words times `deviation`, rounded to fp32 (init.h).
  void (*normals)(uint64_t seed, uint64_t id, double deviation, uint64_t first,
                  int64_t count, float *out);
  /// f16 to fp32, and back, rounded to nearest even (f16.h).
  void (*widenF16)(const uint16_t *in, float *out, int64_t count);
  void (*roundToF16)(const float *in, uint16_t *out, int64_t count);
};

extern const KernelTable kKernelsV3, kKernelsV4, kKernelsV4Bf16;
/// Of bf16 alone, by tiles.
extern const AttentionKernels kAttentionAmx;

/// The table of mtc_kernels_select_isa, or null before it.
const KernelTable *selectedKernels();

/// Attention of the chosen instruction set, of elements of `type`, or null.
const AttentionKernels *selectedAttention(MtcDtype type);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_KERNELS_CPU_KERNEL_TABLE_H
