//===- attention_backward.h - flash attention, gradients --------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h). With P the softmax, M the dropout
// factors (0 or 1/(1-rate)) and D_i = sum_e dO_ie·O_ie (Dao et al. 2022,
// appendix B.2):
//   dV = (P∘M)^T·dO,  dP = M∘(dO·V^T),  dS = P∘(dP - D),
//   dQ = scale·dS·K,  dK = scale·dS^T·Q.
// dQ sums over tiles of keys ascending; dK and dV over the heads of a group
// ascending, and in each over tiles of queries ascending.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_ATTENTION_BACKWARD_H
#define MTC_RUNTIME_KERNELS_CPU_ATTENTION_BACKWARD_H

#include "runtime/kernels/cpu/attention_gradient.h"
#include "runtime/kernels/cpu/attention_pack.h"
#ifdef __AMX_TILE__
#include "runtime/kernels/cpu/attention_turned.h"
#endif

namespace {

using mtc::runtime::AttentionGradients;

/// D of every row; zero for padding.
template <typename T>
inline void rowDots(float *dot, HeadView<const T> dout, HeadView<const T> out,
                    const Plan &p) {
  for (int64_t t = 0; t < p.queries.padded; ++t) {
    const T *a = dout.p + t * dout.tokenStride;
    const T *b = out.p + t * out.tokenStride;
    fetchToken(out, t + kTokensAhead, p.queries.count, p);
    int64_t dim = t < p.queries.count ? p.dim : 0, e = 0;
    F lanes = broadcast(0);
    for (; e + kW <= dim; e += kW)
      lanes = fma(load(a + e), load(b + e), lanes);
    float sum = sumLanes(lanes);
    for (; e < dim; ++e)
      sum = __builtin_fmaf(widen(a[e]), widen(b[e]), sum);
    dot[t] = sum;
  }
}

#ifndef __AMX_TILE__ // attention_turned.h has these by tiles
/// Row `row` of a tile.
template <Sight sight>
MTC_INLINE void beginRow(GradientRow &r, const GradArrays &a, const TileAt &at,
                         const float *lse, int64_t row) {
  bool exists = row < at.rows;
  r.scores = a.p + row * kTile;
  r.dprobs = a.ds + row * kTile;
  r.shift = broadcast(exists ? lse[at.i0 + row] : 0);
  r.dot = broadcast(exists ? a.dot[at.i0 + row] : 0);
  r.keys = exists ? at.keysOfRow(row) : 0;
  r.first = sight == Sight::document ? at.firstKey(row) : 0;
}

/// What gradientRows does with some vectors of its rows from column j on.
template <typename Units, Sight sight, bool drops, int kN>
MTC_INLINE void gradientVectors(const GradArrays &a,
                                const GradientRow (&rows)[Units::kElements],
                                F scale, F factor, int64_t row, int64_t j) {
  constexpr int kRows = Units::kElements;
  F weights[kN][kRows], gradients[kN][kRows];
#pragma GCC unroll 2
  for (int i = 0; i < kRows; ++i) {
    const GradientRow &r = rows[i];
    F probs[kN];
    onEach<kN>([&](int v) {
      probs[v] = Units::exponent(load(r.scores + j + v * kW), scale, r.shift);
    });
    Units::anyPowers(probs);
    onEach<kN>([&](int v) {
      gradientOf<Units, sight, drops>(r, probs[v], j + v * kW, factor,
                                      weights[v][i], gradients[v][i]);
    });
  }
  onEach<kN>([&](int v) {
    int64_t at = j + v * kW;
    Units::storeAcross(a.p, row, at, weights[v]);
    Units::storeAcross(a.ds, row, at, gradients[v]);
  });
  if constexpr (kRows > 1)
    for (int i = 0; i < kRows; ++i) {
      F along[kN];
      onEach<kN>([&](int v) { along[v] = gradients[v][i]; });
      Units::storeAlong(a.dsAlong + (row + i) * kTile / kRows, j, along);
    }
}

/// Of kElements rows from `row` on the scores become P∘M and dO·V^T becomes dS,
/// in units across rows; zero beyond the keys, before the row's document, and
/// in a row beyond those of the tile. Where units are pairs, P is scaled by the
/// product's result, not here.
template <typename Units, Sight sight, bool drops>
MTC_INLINE void gradientRows(const GradArrays &a, const TileAt &at,
                             const Plan &p, const Dropper &drop,
                             const KeptTile &kept, const float *lse,
                             int64_t row) {
  constexpr int kRows = Units::kElements;
  GradientRow rows[kRows];
  for (int i = 0; i < kRows; ++i) {
    beginRow<sight>(rows[i], a, at, lse, row + i);
    if constexpr (drops)
      kept.draw(rows[i].kept, row + i);
  }
  int64_t end = sight == Sight::whole ? kTile : at.columnsOf(row), j = 0;
  F scale = broadcast(p.scale), factor = broadcast(drop.scale);
  for (; j + kAtOnce * kW <= end; j += kAtOnce * kW)
    gradientVectors<Units, sight, drops, kAtOnce>(a, rows, scale, factor, row,
                                                  j);
  for (; j < end; j += kW)
    gradientVectors<Units, sight, drops, 1>(a, rows, scale, factor, row, j);
}

template <typename Units, Sight sight>
inline void gradientTile(const GradArrays &a, const TileAt &at, const Plan &p,
                         const Dropper &drop, const KeptTile &kept,
                         const float *lse) {
  // Products read whole steps of rows: what is beyond the last one is zero.
  int64_t end = steppedUnits(at.rows, Units::kElements) * Units::kElements;
  for (int64_t r = 0; r < end; r += Units::kElements)
    if (drop.threshold)
      gradientRows<Units, sight, true>(a, at, p, drop, kept, lse, r);
    else
      gradientRows<Units, sight, false>(a, at, p, drop, kept, lse, r);
}

template <typename Units, bool byDocument>
inline void backwardTile(const GradArrays &a, const TileAt &at, const Plan &p,
                         const Dropper &drop, Fetcher &fetcher,
                         const float *lse) {
  if (!at.isNeeded<byDocument>())
    return;
  KeptTile kept(drop, at, p.keys.count, fetcher);
  scoreTile<Units>(a.p, a.q, a.kt, at, p, kept);
  scoreTile<Units>(a.ds, a.dout, a.vt, at, p, kept);
  if (drop.threshold)
    kept.finish();
  if constexpr (byDocument)
    gradientTile<Units, Sight::document>(a, at, p, drop, kept, lse);
  else if (at.isWhole() && at.rows == kGradientRows)
    gradientTile<Units, Sight::whole>(a, at, p, drop, kept, lse);
  else
    gradientTile<Units, Sight::keys>(a, at, p, drop, kept, lse);
  addByRows<Units>(a.dv + at.j0 * p.headPad, a.p, a.doutAcross, at, p, fetcher);
  addByRows<Units>(a.dk + at.j0 * p.headPad, a.ds, a.qAcross, at, p, fetcher);
  addByKeys<Units, Begin::present>(a.dq + at.i0 * p.headPad, a.dsAlong, a.k,
                                   nullptr, at, p, fetcher);
}

template <typename Units, bool byDocument>
inline void backwardHead(const GradArrays &a, const Plan &p,
                         const Dropper &drop, Fetcher &fetcher,
                         const float *lse, bool isFirst) {
  if (isFirst)
    zeroFloats(a.dk, 2 * p.keys.sums); // dv lies behind dk
  zeroFloats(a.dq, p.queries.sums);
  for (int64_t j0 = 0; j0 < p.keys.count; j0 += kTile)
    for (const QueryRange &range : p.ranges)
      for (int64_t i0 = range.from; i0 < range.end; i0 += kGradientRows)
        backwardTile<Units, byDocument>(
            a, tileAt(p, range, i0, j0, kGradientRows), p, drop, fetcher, lse);
}
#endif

template <bool byDocument, typename T>
void backwardOf(const AttentionCall &call, const AttentionGradients &g) {
  using Units = typename UnitsOf<T>::Type;
  const MtcAttention &d = *call.shape;
  auto *qIn = (const T *)call.q, *kIn = (const T *)call.k,
       *vIn = (const T *)call.v, *dout = (const T *)g.dout,
       *out = (const T *)g.out;
  Plan p = planOf(call, Units::kElements);
  GradArrays a = gradArrays<Units>(call.scratch, p);
  int64_t group = d.heads / d.kv_heads;
  HeadsOf heads{d};
  Fetcher fetcher(registerTiles(p, kGradientRows, 2, 3));
  int64_t bytes = (a.dot + p.queries.padded - call.scratch) * sizeof(float);
  auto fetchBeside = [&](int64_t b, int64_t h) {
    fetcher.begin(bytes);
    bool last = (h + 1) % group == 0;
    int64_t next = b * d.heads + h + 1;
    if (next < call.endHead * group) {
      int64_t nextB = next / d.heads, nextH = next % d.heads;
      if (last) {
        fetcher.add(heads.k(kIn, nextB, nextH / group), d.keys, p);
        fetcher.add(heads.v(vIn, nextB, nextH / group), d.keys, p);
      }
      fetcher.add(heads.q(qIn, nextB, nextH), d.seq, p);
      fetcher.add(heads.out(dout, nextB, nextH), d.seq, p);
      fetcher.add(heads.out(out, nextB, nextH), d.seq, p);
    }
    fetcher.add(heads.q((T *)g.dq, b, h), d.seq, p);
    if (last) {
      fetcher.add(heads.k((T *)g.dk, b, h / group), d.keys, p);
      fetcher.add(heads.v((T *)g.dv, b, h / group), d.keys, p);
    }
  };
  for (int64_t at = call.firstHead; at < call.endHead; ++at) {
    int64_t b = at / d.kv_heads, kv = at % d.kv_heads;
    p.documents = documentsOf(call, b);
    packAcross<Units>(a.k, heads.k(kIn, b, kv), 0, d.keys, p);
    packTransposed<Units>(a.kt, heads.k(kIn, b, kv), p);
    packTransposed<Units>(a.vt, heads.v(vIn, b, kv), p);
    for (int64_t h = kv * group; h < (kv + 1) * group; ++h) {
      packRows<Units>(a.q, heads.q(qIn, b, h), p.queries, p);
      packRows<Units>(a.dout, heads.out(dout, b, h), p.queries, p);
      if constexpr (Units::kElements > 1) {
        packQueriesAcross<Units>(a.qAcross, heads.q(qIn, b, h), p);
        packQueriesAcross<Units>(a.doutAcross, heads.out(dout, b, h), p);
      }
      rowDots(a.dot, heads.out(dout, b, h), heads.out(out, b, h), p);
      fetchBeside(b, h);
      backwardHead<Units, byDocument>(a, p, dropperOf(call, b, h), fetcher,
                                      g.lse + (b * d.heads + h) * d.seq,
                                      h == kv * group);
      unpackTokens<Units>(heads.q((T *)g.dq, b, h), a.dq, p.queries, p,
                          p.scale);
    }
    unpackTokens<Units>(heads.k((T *)g.dk, b, kv), a.dk, p.keys, p, p.scale);
    unpackTokens<Units>(heads.v((T *)g.dv, b, kv), a.dv, p.keys, p,
                        Units::kScalesAtOnce ? 1.0f : call.dropScale);
  }
}

template <typename T>
void backwardWith(const AttentionCall &call, const AttentionGradients &g) {
  if (call.documents)
    backwardOf<true, T>(call, g);
  else
    backwardOf<false, T>(call, g);
}

#ifndef __AMX_TILE__ // attention_v4_amx.cpp has bf16 alone
void attentionBackward(const AttentionCall &call,
                       const AttentionGradients &gradients) {
  if (call.shape->dtype == MTC_BF16)
    backwardWith<Bf16>(call, gradients);
  else if (call.shape->dtype == MTC_F16)
    backwardWith<F16>(call, gradients);
  else
    backwardWith<float>(call, gradients);
}
#endif

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_ATTENTION_BACKWARD_H
