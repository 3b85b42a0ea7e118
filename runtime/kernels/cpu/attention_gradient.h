//===- attention_gradient.h - arrays and rows of gradients ------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h). What attention_backward.h works
// on, and what becomes of a probability.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_ATTENTION_GRADIENT_H
#define MTC_RUNTIME_KERNELS_CPU_ATTENTION_GRADIENT_H

#include "runtime/kernels/cpu/attention_dropout.h"
#include "runtime/kernels/cpu/attention_pack.h"
#include "runtime/kernels/cpu/attention_products.h"

namespace {

/// Rows of a tile of scores.
constexpr int64_t kGradientRows = 64;

/// Of those, rows of which scores are there at once.
constexpr int64_t kScoreRows = kHasTiles ? 32 : kGradientRows;

/// Arrays of one key head and, from `q` on, of one query head. Those across
/// tokens are the rows themselves where units are elements.
struct GradArrays {
  float *kt, *vt, *k, *dk, *dv;
  float *q, *dout, *qAcross, *doutAcross, *dq;
  float *p, *ds;  ///< [kScoreRows][kTile]: scores, then units across rows (by
                  ///< tiles those are in attention_turned.h)
  float *dsAlong; ///< units along rows
  float *dot;     ///< D, [padded queries]
};

template <typename Units>
inline GradArrays gradArrays(float *s, const Plan &p) {
  GradArrays a;
  auto take = [&](float *&array, int64_t floats) {
    array = s;
    s += floats;
  };
  for (float **array : {&a.kt, &a.vt, &a.k})
    take(*array, p.keys.units);
  take(a.dk, p.keys.sums);
  take(a.dv, p.keys.sums);
  take(a.q, p.queries.units);
  take(a.dout, p.queries.units);
  a.qAcross = a.q;
  a.doutAcross = a.dout;
  if (Units::kElements > 1) {
    take(a.qAcross, p.queries.across);
    take(a.doutAcross, p.queries.across);
  }
  // By tiles whole blocks of rows are written.
  take(a.dq, p.queries.sums + (kHasTiles ? kExtentRows * p.headPad : 0));
  take(a.p, kScoreRows * kTile);
  take(a.ds, kScoreRows * kTile);
  a.dsAlong = a.ds;
  if (Units::kElements > 1)
    take(a.dsAlong, kGradientRows * kTile / Units::kElements);
  take(a.dot, p.queries.padded);
  return a;
}

// What attention.cpp plans for one thread has no more than that: where keys and
// a head are as few as can be, of its arrays of keys three halves and of its
// two tiles some are not used, and sixteen rows of two arrays and 32 of one
// more.
static_assert(!kHasTiles ||
              3 * kTile / 2 * kHeadPad +
                      (2 * kTile - 2 * kScoreRows - kTile / 2) * kTile >=
                  (2 * kStepUnits + kExtentRows) * kHeadPad);

/// What one row of scores needs.
struct GradientRow {
  const float *scores, *dprobs;
  F shift, dot;
  int64_t keys = 0, first = 0; ///< it sees [first, keys) of the tile
  KeptRow kept;
};

/// What a probability makes of a vector from column j on: P∘M, and dS.
template <typename Units, Sight sight, bool drops>
MTC_INLINE void gradientOf(const GradientRow &r, F prob, int64_t j, F factor,
                           F &weight, F &gradient) {
  F zero = broadcast(0), dprob = load(r.dprobs + j);
  prob = seenLanes<sight>(prob, r.first - j, r.keys - j, zero);
  weight = prob;
  if constexpr (drops) {
    weight = Units::kScalesAtOnce ? r.kept.keepTimes(j, prob, factor)
                                  : r.kept.keep(j, prob);
    dprob = r.kept.keepTimes(j, dprob, factor);
  }
  gradient = prob * (dprob - r.dot);
  if constexpr (sight != Sight::whole)
    gradient = firstLanes(int(r.keys - j), gradient, zero);
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_ATTENTION_GRADIENT_H
