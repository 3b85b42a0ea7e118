//===- attention_tiles.h - packing and shapes of flash attention ----------===//
//
// Internal, per instruction set (see simd.h). Scratch is made of arrays of
// `paddedSeq` tokens times `headPad` floats; padding is zero. A token array is
// [token][headPad]; a transposed array is [tile][head_dim][kTile]. Packing
// widens elements of type T and unpacking rounds to them: all between is in
// fp32.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_ATTENTION_TILES_H
#define MTC_RUNTIME_KERNELS_CPU_ATTENTION_TILES_H

#include "runtime/kernels/cpu/kernel_table.h"
#include "runtime/kernels/cpu/philox_body.h"
#include "runtime/kernels/cpu/tile_gemm.h"

namespace {

using mtc::runtime::AttentionCall;
using mtc::runtime::kHeadPad;
using mtc::runtime::kTile;

/// One head of one sample of a strided tensor.
template <typename T> struct HeadView {
  T *p;
  int64_t tokenStride;
};

template <typename T>
MTC_INLINE HeadView<T> headView(T *p, const MtcAttention &d, int64_t sample,
                                int64_t head, int64_t tokenStride,
                                int64_t headStride) {
  return {p + sample * d.seq * tokenStride + head * headStride, tokenStride};
}

/// The constants of one call.
struct Plan {
  int64_t seq, dim, headPad, paddedSeq, arrayFloats;
  bool causal;
  float scale;
};

MTC_INLINE Plan planOf(const MtcAttention &d) {
  int64_t headPad = roundUp(d.head_dim, kHeadPad);
  int64_t paddedSeq = roundUp(d.seq, kTile);
  return {d.seq,         d.head_dim,    headPad, paddedSeq, paddedSeq * headPad,
          d.causal != 0, float(d.scale)};
}

/// A tile of scores: queries from i0, keys from j0.
struct TileAt {
  int64_t i0, j0, rows, keys; ///< rows, keys: how many exist
  bool diagonal;              ///< causal and i0 == j0

  /// Keys that a block of rows needs; beyond it every probability is zero.
  MTC_INLINE int64_t keysOfBlock(int64_t row) const {
    int64_t end = row + kTileRows;
    return diagonal && end < keys ? end : keys;
  }
  MTC_INLINE int64_t keysOfRow(int64_t row) const {
    return diagonal && row + 1 < keys ? row + 1 : keys;
  }
  /// The first row that needs a block of keys.
  MTC_INLINE int64_t firstRow(int64_t key) const {
    return diagonal && key < rows ? key : 0;
  }
};

MTC_INLINE TileAt tileAt(const Plan &p, int64_t i0, int64_t j0) {
  int64_t rows = p.seq - i0 < kTile ? p.seq - i0 : kTile;
  int64_t keys = p.seq - j0 < kTile ? p.seq - j0 : kTile;
  return {i0, j0, rows, keys, p.causal && i0 == j0};
}

inline void zeroFloats(float *p, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    p[i] = 0;
}

/// Copies a head into a token array.
template <typename T>
inline void packTokens(float *out, HeadView<const T> x, const Plan &p) {
  for (int64_t t = 0; t < p.paddedSeq; ++t, out += p.headPad) {
    const T *row = x.p + t * x.tokenStride;
    int64_t n = t < p.seq ? p.dim : 0;
    for (int64_t e = 0; e < n; ++e)
      out[e] = widen(row[e]);
    for (int64_t e = n; e < p.headPad; ++e)
      out[e] = 0;
  }
}

/// Copies a head into a transposed array. Reads along tokens: their stride is
/// often a multiple of a page, which as an inner loop would thrash the cache.
template <typename T>
inline void packTransposed(float *out, HeadView<const T> x, const Plan &p) {
  for (int64_t t0 = 0; t0 < p.paddedSeq; t0 += kTile, out += p.dim * kTile) {
    int64_t n = p.seq - t0 < kTile ? p.seq - t0 : kTile;
    if (n < kTile)
      zeroFloats(out, p.dim * kTile);
    for (int64_t t = 0; t < n; ++t) {
      const T *row = x.p + (t0 + t) * x.tokenStride;
      for (int64_t e = 0; e < p.dim; ++e)
        out[e * kTile + t] = widen(row[e]);
    }
  }
}

/// Writes a token array, times `scale`, to a head.
template <typename T>
inline void unpackTokens(HeadView<T> x, const float *in, const Plan &p,
                         float scale) {
  for (int64_t t = 0; t < p.seq; ++t, in += p.headPad)
    for (int64_t e = 0; e < p.dim; ++e)
      narrow(in[e] * scale, x.p[t * x.tokenStride + e]);
}

/// c[rows, kTile] = a (token rows, from i0)·transposed tile.
MTC_INLINE void scoreTile(float *c, const float *a, const float *transposed,
                          const TileAt &at, const Plan &p) {
  tileGemm<false>(
      at.rows, {a + at.i0 * p.headPad, p.headPad, 1},
      {transposed + at.j0 * p.dim, kTile}, {c, kTile}, [&](int64_t row) {
        return Extent{0, p.dim, roundUp(at.keysOfBlock(row), kTileCols)};
      });
}

/// c[rows, headPad] += tile[rows, keys]·b (token rows, from j0).
MTC_INLINE void addByKeys(float *c, const float *tile, const float *b,
                          const TileAt &at, const Plan &p) {
  tileGemm<true>(at.rows, {tile, kTile, 1}, {b + at.j0 * p.headPad, p.headPad},
                 {c, p.headPad}, [&](int64_t row) {
                   return Extent{0, at.keysOfBlock(row), p.headPad};
                 });
}

/// c[keys, headPad] += transpose of tile[rows, keys]·b (token rows, from i0).
MTC_INLINE void addByRows(float *c, const float *tile, const float *b,
                          const TileAt &at, const Plan &p) {
  tileGemm<true>(at.keys, {tile, 1, kTile}, {b + at.i0 * p.headPad, p.headPad},
                 {c, p.headPad}, [&](int64_t key) {
                   return Extent{at.firstRow(key), at.rows, p.headPad};
                 });
}

/// Dropout of one head's probabilities.
struct Dropper {
  RowStream stream;
  uint64_t headBase; ///< element of (head, 0, 0)
  uint32_t threshold;
  float scale;

  MTC_INLINE const uint32_t *words(uint32_t *buffer, const TileAt &at,
                                   int64_t row, int64_t seq,
                                   int64_t count) const {
    uint64_t i = uint64_t(at.i0 + row);
    return rowWords(buffer, stream,
                    headBase + i * uint64_t(seq) + uint64_t(at.j0), int(count));
  }
};

MTC_INLINE Dropper dropperOf(const AttentionCall &call, int64_t sample,
                             int64_t head) {
  const MtcAttention &d = *call.shape;
  RowStream s{call.seed, uint64_t(call.sample + sample),
              uint32_t(d.layer) << 8 | uint32_t(d.site)};
  uint64_t base =
      uint64_t(call.head + head) * uint64_t(d.seq) * uint64_t(d.seq);
  return {s, base, call.dropThreshold, call.dropScale};
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_ATTENTION_TILES_H
