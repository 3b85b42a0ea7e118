//===- attention_pack.h - heads as arrays of units --------------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h). Scratch has arrays of units
// (attention_units.h), whose padding is zero:
//   rows        [token][rowUnits], units along the elements of a token,
//   across      [token / elements][headPad], units across tokens,
//   transposed  [tile][dimUnits][kTile], units along the elements of a token,
// and arrays of sums, [token][headPad] in fp32.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_ATTENTION_PACK_H
#define MTC_RUNTIME_KERNELS_CPU_ATTENTION_PACK_H

#include "runtime/kernels/cpu/attention_shapes.h"
#include "runtime/kernels/cpu/attention_units.h"
#include "runtime/kernels/cpu/transpose.h"

namespace {

inline void zeroFloats(float *p, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    p[i] = 0;
}

/// Fetches a token of a head that is packed soon: where they are far apart
/// nothing else foresees them.
template <typename T>
MTC_INLINE void fetchToken(HeadView<const T> x, int64_t token, int64_t end,
                           const Plan &p) {
  constexpr int64_t kLine = 64 / int64_t(sizeof(T));
  if (token >= end)
    return;
  const T *row = x.p + token * x.tokenStride;
  for (int64_t e = 0; e < p.dim; e += kLine)
    _mm_prefetch((const char *)(row + e), _MM_HINT_T0);
}
constexpr int64_t kTokensAhead = 16;

/// Units [unit, end) of a token, which has `dim` elements, one by one.
template <typename Units, typename T>
MTC_INLINE void packUnits(float *out, const T *row, int64_t unit, int64_t end,
                          int64_t stride, int64_t dim) {
  for (; unit < end; ++unit) {
    int64_t e = unit * Units::kElements;
    out[unit * stride] = e < dim ? Units::one(row + e, dim - e) : 0;
  }
}

/// Copies a head into rows.
template <typename Units, typename T>
inline void packRows(float *out, HeadView<const T> x, const Tokens &tokens,
                     const Plan &p) {
  for (int64_t t = 0; t < tokens.count; ++t, out += p.rowUnits) {
    const T *row = x.p + t * x.tokenStride;
    fetchToken(x, t + kTokensAhead, tokens.count, p);
    int64_t unit = 0;
    for (; (unit + kW) * Units::kElements <= p.dim; unit += kW)
      store(out + unit, Units::along(row + unit * Units::kElements));
    packUnits<Units>(out, row, unit, p.dimUnits, 1, p.dim);
    for (unit = p.dimUnits; unit < p.rowUnits; ++unit)
      out[unit] = 0;
  }
}

/// Copies tokens [from, end) of a head into units across them, and zeros to the
/// end of a step.
template <typename Units, typename T>
inline void packAcross(float *out, HeadView<const T> x, int64_t from,
                       int64_t end, const Plan &p) {
  int64_t units = steppedUnits(end - from, Units::kElements),
          made = (end - from + Units::kElements - 1) / Units::kElements;
  zeroFloats(out + made * p.headPad, (units - made) * p.headPad);
  for (int64_t t = from; t < end; t += Units::kElements, out += p.headPad) {
    const T *row = x.p + t * x.tokenStride;
    for (int i = 0; i < Units::kElements; ++i)
      fetchToken(x, t + kTokensAhead + i, end, p);
    int64_t e = 0;
    for (; e + kW <= p.dim; e += kW)
      store(out + e, Units::across(row + e, x.tokenStride, end - t));
    for (; e < p.dim; ++e)
      out[e] = Units::oneAcross(row + e, x.tokenStride, end - t);
    for (; e < p.headPad; ++e)
      out[e] = 0;
  }
}

/// Copies queries into units across them, range by range.
template <typename Units, typename T>
inline void packQueriesAcross(float *out, HeadView<const T> x, const Plan &p) {
  for (const QueryRange &range : p.ranges)
    packAcross<Units>(out + range.unit * p.headPad, x, range.from, range.end,
                      p);
}

/// Units [unit, unit + kW) of kW tokens from `row` on, into a tile.
template <typename Units, typename T>
MTC_INLINE void packBlock(float *tile, const T *row, int64_t stride,
                          int64_t unit) {
  F rows[kW];
#pragma GCC unroll 16
  for (int i = 0; i < kW; ++i)
    rows[i] = Units::along(row + i * stride + unit * Units::kElements);
  transpose(rows);
#pragma GCC unroll 16
  for (int i = 0; i < kW; ++i)
    store(tile + (unit + i) * kTile, rows[i]);
}

/// Copies a head of keys or values into a transposed array. Reads along tokens:
/// their stride is often a multiple of a page, which as an inner loop would
/// thrash the cache.
template <typename Units, typename T>
inline void packTransposed(float *out, HeadView<const T> x, const Plan &p) {
  int64_t tileUnits = p.dimUnits * kTile;
  for (int64_t t0 = 0; t0 < p.keys.padded; t0 += kTile, out += tileUnits) {
    int64_t n = within(p.keys.count - t0, 0, kTile);
    if (n < kTile)
      zeroFloats(out, tileUnits);
    const T *from = x.p + t0 * x.tokenStride;
    int64_t t = 0;
    for (; t + kW <= n; t += kW) {
      const T *row = from + t * x.tokenStride;
      for (int64_t i = 0; i < kW; ++i)
        fetchToken(x, t0 + t + kTokensAhead + i, p.keys.count, p);
      int64_t unit = 0;
      for (; (unit + kW) * Units::kElements <= p.dim; unit += kW)
        packBlock<Units>(out + t, row, x.tokenStride, unit);
      for (int64_t i = 0; i < kW; ++i)
        packUnits<Units>(out + t + i, row + i * x.tokenStride, unit, p.dimUnits,
                         kTile, p.dim);
    }
    for (; t < n; ++t)
      packUnits<Units>(out + t, from + t * x.tokenStride, 0, p.dimUnits, kTile,
                       p.dim);
  }
}

/// Writes sums, times `scale`, to a head.
template <typename Units, typename T>
inline void unpackTokens(HeadView<T> x, const float *in, const Tokens &tokens,
                         const Plan &p, float scale) {
  for (int64_t t = 0; t < tokens.count; ++t, in += p.headPad) {
    T *row = x.p + t * x.tokenStride;
    int64_t e = 0;
    for (; e + kW <= p.dim; e += kW)
      Units::storeResult(row + e, load(in + e) * broadcast(scale));
    if (e == p.dim)
      continue;
    T rest[kW]; // rounded as the others are
    Units::storeResult(rest, load(in + e) * broadcast(scale));
    for (int64_t i = 0; e + i < p.dim; ++i)
      row[e + i] = rest[i];
  }
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_ATTENTION_PACK_H
