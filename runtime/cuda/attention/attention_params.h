//===- attention_params.h - how attention kernels are called ----*- C++ -*-===//
//
// Shared by the kernels and by hosts that launch them: plain C++, no CUDA.
// Meanings are those of MtcAttention in abi.h. Elements are bf16, fp16 or fp32;
// q, k, v, out and their gradients [batch, tokens, heads, head_dim], the
// gradients laid out as what they are gradients of. Pointers and strides are
// multiples of 16 bytes, scale is positive, and all sizes are below 2^31.
//
// Entries: mtc_attention_KIND_ELEMENT_dD, of kind `forward`, `dots`, `queries`
// or `keys`, element `bf16`, `f16` or `f32`, D 32, 64, 96, 128 or 256; heads
// may have fewer elements. Those by warpgroups have _sm_90a behind that, the
// one chip that runs them. Backward is dots, then queries (dq) and keys (dk,
// dv) in any order. Nothing is added by atomics: equal calls give equal bits.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_ATTENTION_ATTENTION_PARAMS_H
#define MTC_RUNTIME_CUDA_ATTENTION_ATTENTION_PARAMS_H

#include "mtc/runtime/gpu_attention.h"

#include <cstdint>

namespace mtc::cuda {

/// The one parameter of every entry, by value. Strides are in elements. Of fp32
/// the pointers to 16 bits are to floats, aligned as these.
struct AttentionParams {
  const uint16_t *q, *k, *v;
  uint16_t *out;        ///< written by forward
  float *lse;           ///< [batch, heads, seq], written by forward
  const uint16_t *dout; ///< laid out as out
  float *dots; ///< scratch [batch, heads, seq]: sum over e of dout·out, by dots
  uint16_t *dq, *dk, *dv;
  /// [batch, seq] or null: the first key that a query sees, as in abi.h; does
  /// not descend along the queries of a sample.
  const int32_t *documents;
  /// On the device, so that a captured graph sees each step's: the seed, and
  /// what is added to `sample`. Not read without dropout; sampleBase may be
  /// null.
  const uint64_t *seed, *sampleBase;
  uint64_t sample; ///< absolute id of batch row 0, less *sampleBase
  int64_t qToken, qHead, kToken, kHead, vToken, vHead, oToken, oHead;
  int32_t seq, keys, headDim;
  int32_t heads, group;         ///< query heads; of them per key head
  int32_t first, begin, begin2; ///< where queries are in the sequence
  int32_t causal;               ///< 0 or 1
  int32_t head;                 ///< global index of head 0
  uint32_t layerSite;           ///< layer << 8 | site
  uint32_t dropThreshold;       ///< 0: no dropout
  float dropScale;              ///< 1 without dropout
  float scale;
};

/// How a kernel of a head size is cut into blocks.
struct AttentionTiles {
  int rowTiles; ///< of 16 rows, that a warp owns
  int warps;
  int step;   ///< rows of the other side that a step of the loop takes
  int part;   ///< of which so many at once are in registers
  int splits; ///< blocks that share rows and make parts of the head's columns
  int blocks; ///< that a multiprocessor shall hold

  constexpr int rows() const { return rowTiles * 16 * warps; }
  constexpr int threads() const { return warps * 32; }
};

/// Of fp32: rows of a block, each a warp's, and its threads. Blocks along y and
/// z are those of other elements.
inline constexpr int kFloatRows = 4, kFloatThreads = 32 * kFloatRows;

enum class AttentionKernel { forward, dots, queries, keys };

/// `headDim` is a D.
constexpr AttentionTiles attentionTiles(AttentionKernel kernel, int headDim) {
  switch (kernel) {
  case AttentionKernel::forward:
    return headDim <= 128 ? AttentionTiles{2, 4, 64, 64, 1, 2}
                          : AttentionTiles{1, 4, 32, 32, 1, 2};
  case AttentionKernel::dots:
    return {1, 4, 0, 0, 1, 1};
  case AttentionKernel::queries:
    return headDim <= 64    ? AttentionTiles{2, 4, 64, 32, 1, 2}
           : headDim <= 128 ? AttentionTiles{2, 4, 32, 32, 1, 2}
                            : AttentionTiles{1, 4, 16, 16, 1, 1};
  case AttentionKernel::keys:
    return headDim <= 64    ? AttentionTiles{2, 4, 64, 32, 1, 2}
           : headDim <= 128 ? AttentionTiles{1, 4, 64, 32, 1, 2}
                            : AttentionTiles{1, 4, 16, 16, 2, 1};
  }
  return {};
}

/// The same of kernels by warpgroups (sm_90a), heads of up to 64 elements: a
/// warp owns 16 of its warpgroup's 64 rows.
constexpr AttentionTiles groupTiles(AttentionKernel kernel) {
  switch (kernel) {
  case AttentionKernel::forward:
    return {1, 4, 64, 64, 1, 4};
  case AttentionKernel::dots:
    return attentionTiles(kernel, 64);
  case AttentionKernel::queries:
  case AttentionKernel::keys:
    return {1, 4, 64, 64, 1, 3};
  }
  return {};
}

/// Bytes of dynamic shared memory. Beyond 48 KiB a host must allow them by
/// cuFuncSetAttribute.
constexpr int attentionSharedBytes(AttentionKernel kernel, int headDim) {
  AttentionTiles t = attentionTiles(kernel, headDim);
  int row = 2 * headDim;
  switch (kernel) {
  case AttentionKernel::forward:
    return (t.rows() + 4 * t.step) * row;
  case AttentionKernel::dots:
    return 0;
  case AttentionKernel::queries:
    return (2 * t.rows() + 4 * t.step) * row;
  case AttentionKernel::keys:
    return (2 * t.rows() + 4 * t.step) * row + 4 * t.step * 4;
  }
  return 0;
}

/// The same by warpgroups.
constexpr int groupSharedBytes(AttentionKernel kernel) {
  AttentionTiles t = groupTiles(kernel);
  int row = 2 * 64, own = t.rows() * row, steps = 4 * t.step * row;
  switch (kernel) {
  case AttentionKernel::forward:
    return own + steps;
  case AttentionKernel::dots:
    return 0;
  case AttentionKernel::queries:
    return 2 * own + steps;
  case AttentionKernel::keys:
    return 2 * own + steps + 4 * t.step * 4;
  }
  return 0;
}

enum class AttentionForm { warps, groups, floats };

/// How a kernel is launched: blocks along x, where along y are heads (key heads
/// for `keys`) and along z samples; threads; bytes of dynamic shared memory.
struct AttentionShape {
  int blocks, threads, shared;
};

constexpr AttentionShape attentionShape(AttentionForm form,
                                        AttentionKernel kernel, int headDim,
                                        int seq, int keys) {
  int tokens = kernel == AttentionKernel::keys ? keys : seq;
  if (form == AttentionForm::floats)
    return {(tokens + kFloatRows - 1) / kFloatRows, kFloatThreads, 0};
  bool groups = form == AttentionForm::groups;
  AttentionTiles t =
      groups ? groupTiles(kernel) : attentionTiles(kernel, headDim);
  return {(tokens + t.rows() - 1) / t.rows() * t.splits, t.threads(),
          groups ? groupSharedBytes(kernel)
                 : attentionSharedBytes(kernel, headDim)};
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_ATTENTION_ATTENTION_PARAMS_H
