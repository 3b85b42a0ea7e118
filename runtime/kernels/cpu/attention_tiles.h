//===- attention_tiles.h - packing and shapes of flash attention ----------===//
//
// Internal, per instruction set (see simd.h). Scratch is made of arrays of
// padded tokens (queries or keys) times `headPad` floats; padding is zero. A
// token array is
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
#include "runtime/kernels/cpu/transpose.h"

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
MTC_INLINE HeadView<T> headView(T *p, int64_t sample, int64_t tokens,
                                int64_t head, int64_t tokenStride,
                                int64_t headStride) {
  return {p + sample * tokens * tokenStride + head * headStride, tokenStride};
}

/// How many tokens there are, of queries or of keys, and how many floats an
/// array of them has.
struct Tokens {
  int64_t count, padded, floats;
};

/// Queries that stand side by side in the sequence: [from, end), of which the
/// first is at position `begin`.
struct QueryRange {
  int64_t from, end, begin;
};

/// Of the queries of a sample where their documents begin, or null.
MTC_INLINE const int32_t *documentsOf(const AttentionCall &call,
                                      int64_t sample) {
  return call.documents ? call.documents + sample * call.shape->seq : nullptr;
}

/// The constants of one call, but for `documents`.
struct Plan {
  int64_t dim, headPad;
  Tokens queries, keys;
  QueryRange ranges[2]; ///< the second may be empty
  bool causal;
  float scale;
  const int32_t *documents; ///< of the queries of the sample at hand, or null
};

MTC_INLINE Plan planOf(const AttentionCall &call) {
  const MtcAttention &d = *call.shape;
  int64_t headPad = roundUp(d.head_dim, kHeadPad);
  int64_t queries = roundUp(d.seq, kTile), keys = roundUp(d.keys, kTile);
  return {d.head_dim,
          headPad,
          {d.seq, queries, queries * headPad},
          {d.keys, keys, keys * headPad},
          {{0, d.first, call.begin[0]}, {d.first, d.seq, call.begin[1]}},
          d.causal != 0,
          float(d.scale),
          nullptr};
}

MTC_INLINE int64_t within(int64_t x, int64_t low, int64_t high) {
  return x < low ? low : x < high ? x : high;
}

/// What a row may see of a tile: all, its keys, or those of its document.
enum class Sight { whole, keys, document };

/// A tile of scores: queries from i0, of one range, and keys from j0.
struct TileAt {
  int64_t i0, j0, rows, keys; ///< rows, keys: how many exist
  int64_t position;           ///< of query i0 in the sequence
  /// Row r sees the keys [0, ahead + r] of the tile; of a call that is not
  /// causal all rows see all.
  int64_t ahead;

  /// Keys that a block of rows needs; beyond it every probability is zero.
  MTC_INLINE int64_t keysOfBlock(int64_t row) const {
    return within(ahead + row + kTileRows, 0, keys);
  }
  MTC_INLINE int64_t keysOfRow(int64_t row) const {
    return within(ahead + row + 1, 0, keys);
  }
  /// The first row that needs a block of keys.
  MTC_INLINE int64_t firstRow(int64_t key) const {
    return within(key - ahead, 0, rows);
  }
  /// Whether some row sees some key, of any document.
  MTC_INLINE bool isSeen() const { return ahead + rows > 0; }

  /// Whether all rows exist and see all keys of a whole tile, of any document.
  MTC_INLINE bool isWhole() const {
    return rows == kTile && keys == kTile && ahead >= kTile - 1;
  }

  const int32_t *documents; ///< of the rows, or null
  /// The first key of the tile that a row sees, of its document or itself.
  MTC_INLINE int64_t firstKey(int64_t row) const {
    if (row >= rows)
      return 0;
    int64_t start = documents[row], self = position + row;
    return (start < self ? start : self) - j0;
  }
  /// Whether some row's document has some key of the tile.
  MTC_INLINE bool isInDocuments() const {
    for (int64_t r = 0; r < rows; ++r)
      if (firstKey(r) < keys)
        return true;
    return false;
  }
};

MTC_INLINE TileAt tileAt(const Plan &p, const QueryRange &range, int64_t i0,
                         int64_t j0) {
  int64_t rows = within(range.end - i0, 0, kTile);
  int64_t keys = within(p.keys.count - j0, 0, kTile);
  int64_t position = range.begin + i0 - range.from;
  return {i0,
          j0,
          rows,
          keys,
          position,
          p.causal ? position - j0 : p.keys.count,
          p.documents ? p.documents + i0 : nullptr};
}

inline void zeroFloats(float *p, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    p[i] = 0;
}

/// Copies a head into a token array.
template <typename T>
inline void packTokens(float *out, HeadView<const T> x, const Tokens &tokens,
                       const Plan &p) {
  for (int64_t t = 0; t < tokens.padded; ++t, out += p.headPad) {
    const T *row = x.p + t * x.tokenStride;
    int64_t n = t < tokens.count ? p.dim : 0, e = 0;
    for (; e + kW <= n; e += kW)
      store(out + e, load(row + e));
    for (; e < n; ++e)
      out[e] = widen(row[e]);
    for (int64_t e = n; e < p.headPad; ++e)
      out[e] = 0;
  }
}

struct Span {
  int64_t begin, end;
};

/// Tokens and elements of a head that are no whole block, into a tile.
template <typename T>
MTC_INLINE void packRest(float *tile, const T *from, int64_t stride,
                         Span tokens, Span elements) {
  for (int64_t t = tokens.begin; t < tokens.end; ++t)
    for (int64_t e = elements.begin; e < elements.end; ++e)
      tile[e * kTile + t] = widen(from[t * stride + e]);
}

/// Elements [e, e + kW) of kW tokens from `t` on, into a tile.
template <typename T>
MTC_INLINE void packBlock(float *tile, const T *from, int64_t stride, int64_t t,
                          int64_t e) {
  F rows[kW];
#pragma GCC unroll 16
  for (int i = 0; i < kW; ++i)
    rows[i] = load(from + (t + i) * stride + e);
  transpose(rows);
#pragma GCC unroll 16
  for (int i = 0; i < kW; ++i)
    store(tile + (e + i) * kTile + t, rows[i]);
}

/// Copies a head of keys or values into a transposed array. Reads along tokens:
/// their stride is often a multiple of a page, which as an inner loop would
/// thrash the cache.
template <typename T>
inline void packTransposed(float *out, HeadView<const T> x, const Plan &p) {
  for (int64_t t0 = 0; t0 < p.keys.padded; t0 += kTile, out += p.dim * kTile) {
    int64_t n = within(p.keys.count - t0, 0, kTile);
    if (n < kTile)
      zeroFloats(out, p.dim * kTile);
    const T *from = x.p + t0 * x.tokenStride;
    int64_t t = 0;
    for (; t + kW <= n; t += kW) {
      int64_t e = 0;
      for (; e + kW <= p.dim; e += kW)
        packBlock(out, from, x.tokenStride, t, e);
      packRest(out, from, x.tokenStride, {t, t + kW}, {e, p.dim});
    }
    packRest(out, from, x.tokenStride, {t, n}, {0, p.dim});
  }
}

/// Writes a token array, times `scale`, to a head.
template <typename T>
inline void unpackTokens(HeadView<T> x, const float *in, const Tokens &tokens,
                         const Plan &p, float scale) {
  for (int64_t t = 0; t < tokens.count; ++t, in += p.headPad) {
    T *row = x.p + t * x.tokenStride;
    int64_t e = 0;
    for (; e + kW <= p.dim; e += kW)
      store(row + e, load(in + e) * broadcast(scale));
    for (; e < p.dim; ++e)
      narrow(in[e] * scale, row[e]);
  }
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
  uint64_t headBase; ///< element of (head, 0, 0), of the whole sequence
  uint32_t threshold;
  float scale;

  MTC_INLINE const uint32_t *words(uint32_t *buffer, const TileAt &at,
                                   int64_t row, int64_t keys,
                                   int64_t count) const {
    uint64_t i = uint64_t(at.position + row);
    return rowWords(buffer, stream,
                    headBase + i * uint64_t(keys) + uint64_t(at.j0),
                    int(count));
  }
};

MTC_INLINE Dropper dropperOf(const AttentionCall &call, int64_t sample,
                             int64_t head) {
  const MtcAttention &d = *call.shape;
  RowStream s{call.seed, uint64_t(call.sample + sample),
              uint32_t(d.layer) << 8 | uint32_t(d.site)};
  uint64_t base =
      uint64_t(call.head + head) * uint64_t(d.keys) * uint64_t(d.keys);
  return {s, base, call.dropThreshold, call.dropScale};
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_ATTENTION_TILES_H
