//===- attention_shapes.h - tiles of scores, and who sees what --*- C++ -*-===//
//
// Internal, per instruction set (see simd.h).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_ATTENTION_SHAPES_H
#define MTC_RUNTIME_KERNELS_CPU_ATTENTION_SHAPES_H

#include "runtime/kernels/cpu/kernel_table.h"
#include "runtime/kernels/cpu/tile_gemm.h"

namespace {

using mtc::runtime::AttentionCall;
using mtc::runtime::kHeadPad;
using mtc::runtime::kTile;

#ifdef __AMX_TILE__
constexpr bool kHasTiles = true;
#else
constexpr bool kHasTiles = false;
#endif
/// Rows of a tile of scores for which one extent is taken, and units along
/// which products go at once.
constexpr int64_t kExtentRows = kHasTiles ? 32 : kTileRows;
constexpr int64_t kStepUnits = kHasTiles ? 16 : 1;

/// Vectors of a row whose probabilities are made together.
constexpr int kAtOnce = kW == 16 ? 4 : 2;

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

/// The heads of a call's tensors: of queries and their gradient, of keys, of
/// values, and of results and their gradient.
struct HeadsOf {
  const MtcAttention &d;
  template <typename T>
  HeadView<T> q(T *x, int64_t sample, int64_t head) const {
    return headView(x, sample, d.seq, head, d.q_token_stride, d.q_head_stride);
  }
  template <typename T>
  HeadView<T> k(T *x, int64_t sample, int64_t head) const {
    return headView(x, sample, d.keys, head, d.k_token_stride, d.k_head_stride);
  }
  template <typename T>
  HeadView<T> v(T *x, int64_t sample, int64_t head) const {
    return headView(x, sample, d.keys, head, d.v_token_stride, d.v_head_stride);
  }
  template <typename T>
  HeadView<T> out(T *x, int64_t sample, int64_t head) const {
    return headView(x, sample, d.seq, head, d.o_token_stride, d.o_head_stride);
  }
};

/// How many tokens there are, of queries or of keys, and how many floats an
/// array of them has that is made of units along tokens, of units across them,
/// and one of sums in fp32.
struct Tokens {
  int64_t count, padded, units, across, sums;
};

/// Queries that stand side by side in the sequence: [from, end), of which the
/// first is at position `begin`, and in arrays of units across tokens in row
/// `unit`: no unit has tokens of two ranges.
struct QueryRange {
  int64_t from, end, begin, unit;
};

/// Of the queries of a sample where their documents begin, or null.
MTC_INLINE const int32_t *documentsOf(const AttentionCall &call,
                                      int64_t sample) {
  return call.documents ? call.documents + sample * call.shape->seq : nullptr;
}

/// The constants of one call, but for `documents`.
struct Plan {
  int64_t dim, headPad;
  int64_t elements; ///< of a unit
  int64_t dimUnits; ///< of a token that has elements
  int64_t rowUnits; ///< of a token, padded
  Tokens queries, keys;
  QueryRange ranges[2]; ///< the second may be empty
  bool causal;
  float scale;
  const int32_t *documents; ///< of the queries of the sample at hand, or null
};

/// The last range may begin in the middle of what would be a unit, or a step of
/// them.
MTC_INLINE Tokens tokensOf(int64_t count, int64_t headPad, int64_t elements,
                           int64_t ranges) {
  int64_t padded = roundUp(count, kTile);
  int64_t more = elements > 1 ? (ranges - 1) * kStepUnits : 0;
  return {count, padded, padded / elements * headPad,
          (padded / elements + more) * headPad, padded * headPad};
}

/// Elements of `count` tokens, or of a token, with which products go: whole
/// steps of units.
MTC_INLINE int64_t steppedUnits(int64_t count, int64_t elements) {
  int64_t step = elements > 1 ? kStepUnits : 1;
  return roundUp(roundUp(count, elements) / elements, step);
}

/// For units of so many elements.
MTC_INLINE Plan planOf(const AttentionCall &call, int64_t elements) {
  const MtcAttention &d = *call.shape;
  int64_t headPad = roundUp(d.head_dim, kHeadPad);
  return {d.head_dim,
          headPad,
          elements,
          steppedUnits(d.head_dim, elements),
          headPad / elements,
          tokensOf(d.seq, headPad, elements, 2),
          tokensOf(d.keys, headPad, elements, 1),
          {{0, d.first, call.begin[0], 0},
           {d.first, d.seq, call.begin[1], steppedUnits(d.first, elements)}},
          d.causal != 0,
          float(d.scale),
          nullptr};
}

MTC_INLINE int64_t within(int64_t x, int64_t low, int64_t high) {
  return x < low ? low : x < high ? x : high;
}

/// What a row may see of a tile: all, its keys, or those of its document.
enum class Sight { whole, keys, document };

/// x in the lanes of what a row sees from a column on, `rest` in the others;
/// the columns `first` and `keys`, where that begins and ends, are from there,
/// too.
template <Sight sight>
MTC_INLINE F seenLanes(F x, int64_t first, int64_t keys, F rest) {
  if constexpr (sight != Sight::whole)
    x = firstLanes(int(keys), x, rest);
  if constexpr (sight == Sight::document)
    x = firstLanes(int(first), rest, x);
  return x;
}

/// A tile of scores: queries from i0, of one range, and keys from j0.
struct TileAt {
  int64_t i0, j0, rows, keys; ///< rows, keys: how many exist
  int64_t position;           ///< of query i0 in the sequence
  int64_t unit;               ///< of query i0 in arrays of units across tokens
  /// Row r sees the keys [0, ahead + r] of the tile; of a call that is not
  /// causal all rows see all.
  int64_t ahead;

  /// Keys that a block of rows needs; beyond it every probability is zero.
  MTC_INLINE int64_t keysOfBlock(int64_t row) const {
    return within(ahead + row + kExtentRows, 0, keys);
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

  /// Whether all rows see all keys of a whole tile, of any document.
  MTC_INLINE bool isWhole() const {
    return keys == kTile && ahead >= kTile - 1;
  }
  /// Columns of a row that products read: whole vectors, by tiles two of them.
  MTC_INLINE int64_t columnsOf(int64_t row) const {
    constexpr int64_t kColumns = kHasTiles ? 2 * kW : kW;
    return roundUp(keysOfBlock(row / kExtentRows * kExtentRows), kColumns);
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
  /// Whether some row sees some key; of its document, where there are some.
  template <bool byDocument> MTC_INLINE bool isNeeded() const {
    return isSeen() && (!byDocument || isInDocuments());
  }
};

/// Of at most `most` rows, a multiple of kTileRows.
MTC_INLINE TileAt tileAt(const Plan &p, const QueryRange &range, int64_t i0,
                         int64_t j0, int64_t most) {
  int64_t rows = within(range.end - i0, 0, most);
  int64_t keys = within(p.keys.count - j0, 0, kTile);
  int64_t position = range.begin + i0 - range.from;
  return {i0,
          j0,
          rows,
          keys,
          position,
          range.unit + (i0 - range.from) / p.elements,
          p.causal ? position - j0 : p.keys.count,
          p.documents ? p.documents + i0 : nullptr};
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_ATTENTION_SHAPES_H
