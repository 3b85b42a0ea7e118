//===- gemm_own_tile.h - register blocks of a product -----------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h). A register block is kTileRows
// rows by three vectors (tiles: gemm_own_amx.h); each of its sums begins at
// zero, takes one FMA for a unit of k, in ascending order, and is then added to
// what was there. So each sum is the same in blocks of every shape and in every
// instruction set that multiplies fp32.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_TILE_H
#define MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_TILE_H

#include "runtime/kernels/cpu/gemm_own_table.h"
#include "runtime/kernels/cpu/gemm_own_units.h"
#include "runtime/kernels/cpu/norm_window_body.h"

#include <type_traits>

namespace {

using mtc::runtime::Ahead;
using mtc::runtime::BlockCall;
using mtc::runtime::kChunk;
using mtc::runtime::kPanelRows;
using mtc::runtime::Sums;

/// a·b + c in each lane of fp32.
struct FloatTerms {
  MTC_INLINE static F add(F sum, F a, F b) { return fma(a, b, sum); }
};
#ifdef __AVX512BF16__
/// Two products of bf16 in each lane, in fp32, which takes subnormals for zero.
struct PairTerms {
  MTC_INLINE static F add(F sum, F a, F b) {
    return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);
  }
};
#endif

/// The first `count` elements, at most a vector; zero in the other lanes.
template <typename E> MTC_INLINE F loadFirst(const E *p, int64_t count) {
  if (count >= kW)
    return load(p);
  E some[kW] = {};
  for (int64_t i = 0; i < count; ++i)
    some[i] = p[i];
  return load(some);
}
template <typename E> MTC_INLINE void storeFirst(E *p, int64_t count, F x) {
  if (count >= kW)
    return store(p, x);
  E all[kW];
  store(all, x);
  for (int64_t i = 0; i < count; ++i)
    p[i] = all[i];
}
#ifdef __AVX512F__
MTC_INLINE __mmask16 lanesBelow(int64_t count) {
  return count >= kW ? 0xffff
         : count > 0 ? __mmask16((1u << count) - 1)
                     : __mmask16(0);
}
MTC_INLINE F loadFirst(const float *p, int64_t count) {
  return _mm512_maskz_loadu_ps(lanesBelow(count), p);
}
MTC_INLINE void storeFirst(float *p, int64_t count, F x) {
  _mm512_mask_storeu_ps(p, lanesBelow(count), x);
}
#endif

/// Elements of c, or sums in fp32 in place of it.
template <typename E> struct Corner {
  E *p;
  int64_t stride, rows, columns;
};

template <int Vectors> using Block = F[kTileRows][Vectors];

template <int Vectors, typename E>
MTC_INLINE void addFrom(Block<Vectors> &x, const Corner<E> &from) {
#pragma GCC unroll 8
  for (int r = 0; r < kTileRows; ++r)
    if (r < from.rows)
#pragma GCC unroll 3
      for (int v = 0; v < Vectors; ++v)
        x[r][v] = loadFirst(from.p + r * from.stride + v * kW,
                            from.columns - v * kW) +
                  x[r][v];
}

template <int Vectors, typename E>
MTC_INLINE void storeTo(const Corner<E> &to, Block<Vectors> &x) {
#pragma GCC unroll 8
  for (int r = 0; r < kTileRows; ++r)
    if (r < to.rows)
#pragma GCC unroll 3
      for (int v = 0; v < Vectors; ++v)
        storeFirst(to.p + r * to.stride + v * kW, to.columns - v * kW, x[r][v]);
}

/// Whole lines past the caches, which then need not be read first; false, and
/// nothing is done, where a line is in part another block's.
template <int Vectors, typename E>
MTC_INLINE bool streamTo(const Corner<E> &, Block<Vectors> &) {
  return false;
}
#ifdef __AVX512F__
template <int Vectors>
MTC_INLINE bool streamTo(const Corner<float> &to, Block<Vectors> &x) {
  if (to.columns < Vectors * kW)
    return false;
#pragma GCC unroll 8
  for (int r = 0; r < kTileRows; ++r)
    if (r < to.rows)
#pragma GCC unroll 3
      for (int v = 0; v < Vectors; ++v)
        _mm512_stream_ps(to.p + r * to.stride + v * kW, x[r][v]);
  return true;
}
#endif

/// The squares of the first rows.
template <int Vectors>
MTC_INLINE void countRows(NormWindow &to, Block<Vectors> &x, int64_t rows) {
  F some[kTileRows * Vectors];
#pragma GCC unroll 8
  for (int r = 0; r < kTileRows; ++r)
#pragma GCC unroll 3
    for (int v = 0; v < Vectors; ++v)
      some[r * Vectors + v] = x[r][v];
  count(to, (const float *)some,
        Vectors * (rows < kTileRows ? rows : kTileRows));
}

template <int Vectors, typename E>
MTC_INLINE void prefetchRow(const Corner<E> &c, int64_t r) {
  for (int v = 0; v < Vectors && r < c.rows; ++v)
    _mm_prefetch((const char *)(c.p + r * c.stride + v * kW), _MM_HINT_T0);
}

/// What sums of a register block are added or stored to is fetched before the
/// first chunk of k.
template <int Vectors, typename C> struct FetchesAtOnce {
  MTC_INLINE FetchesAtOnce(const BlockCall &call, const Corner<C> &c,
                           const Corner<float> &floats) {
    if (call.from == Sums::inC || (call.to == Sums::inC && !call.streams))
      for (int r = 0; r < kTileRows; ++r)
        prefetchRow<Vectors>(c, r);
    if (call.from == Sums::inFloats)
      for (int r = 0; r < kTileRows; ++r)
        prefetchRow<Vectors>(floats, r);
  }
  MTC_INLINE void beside(int64_t) const {}
};

/// Or a row beside each of the first chunks: where these lines are far away,
/// all of them at once are in the way of those of the panel. Look at the
/// machine code behind a change: an address that waits in a vector register
/// from chunk to chunk makes a block of packed rows a tenth slower.
template <int Vectors, typename C> struct FetchesByRow {
  FetchesByRow(const BlockCall &call, const Corner<C> &c,
               const Corner<float> &floats)
      : c(c), floats(floats), usesC(call.from == Sums::inC ||
                                    (call.to == Sums::inC && !call.streams)),
        usesFloats(call.from == Sums::inFloats) {
    for (int64_t r = (call.depth + kChunk - 1) / kChunk; r < kTileRows; ++r)
      row(r);
  }
  MTC_INLINE void beside(int64_t k) const {
    if (k < kTileRows * kChunk)
      row(k / kChunk);
  }

private:
  MTC_INLINE void row(int64_t r) const {
    if (usesC)
      prefetchRow<Vectors>(c, r);
    if (usesFloats)
      prefetchRow<Vectors>(floats, r);
  }

  const Corner<C> &c;
  const Corner<float> &floats;
  bool usesC, usesFloats;
};

/// Rows of a packed panel of op(a).
struct PackedRows {
  PackedRows(const BlockCall &call, int64_t row, bool)
      : at(static_cast<const float *>(call.a) +
           row / kPanelRows * kPanelRows * call.depth + row % kPanelRows) {}
  MTC_INLINE F unit(int row, int64_t k) const {
    return broadcast(at[k * kPanelRows + row]);
  }
  MTC_INLINE void prefetch(int64_t) const {}

private:
  const float *at;
};

/// Rows as memory has them. Those beyond the last one are that one again.
struct PlainRows {
  PlainRows(const BlockCall &call, int64_t row, bool areLastColumns)
      : end(4 * call.depth),
        next((areLastColumns ? 4 * kTileRows * call.aStride : 0) - end) {
    for (int r = 0; r < kTileRows; ++r)
      rows[r] =
          static_cast<const char *>(call.a) +
          4 * call.aStride * (row + r < call.rows ? row + r : call.rows - 1);
  }
  MTC_INLINE F unit(int row, int64_t k) const {
    float both; // in bf16 two elements
    __builtin_memcpy(&both, rows[row] + 4 * k, 4);
    return broadcast(both);
  }
  /// A line of each row, which kChunk units later is as far on; behind the end
  /// those with which the next register block begins.
  MTC_INLINE void prefetch(int64_t k) const {
    constexpr int64_t kAhead = 256; // bytes
    static_assert(4 * kChunk == 64, "a line");
    int64_t at = 4 * k + kAhead;
    at += at < end ? 0 : next;
#pragma GCC unroll 8
    for (int r = 0; r < kTileRows; ++r)
      _mm_prefetch(rows[r] + at, _MM_HINT_T0);
  }

private:
  int64_t end, next; ///< of a row, in bytes
  const char *rows[kTileRows];
};

/// Columns of a packed panel of op(b), unit by unit.
struct PackedColumns {
  MTC_INLINE F vector(int v) const { return load(at + v * kW); }
  MTC_INLINE void next() { at += kPanelColumns; }
  float *at;
};

/// Columns as memory has them, across k, which are packed as they are read: the
/// next rows find them in the panel.
template <typename Units> struct FreshColumns {
  MTC_INLINE F vector(int v) const {
    F x = Units::template across<VectorOfUnits>(from + v * kW, stride);
    store(at + v * kW, x);
    for (int64_t i = 0; i < Units::kElements; ++i)
      _mm_prefetch((const char *)(from +
                                  (kSome * Units::kElements + i) * stride +
                                  v * kW),
                   _MM_HINT_T0);
    return x;
  }
  MTC_INLINE void next() {
    at += kPanelColumns;
    from += Units::kElements * stride;
  }
  static constexpr int64_t kSome = 16; ///< units ahead
  float *at;
  const typename Units::Element *from;
  int64_t stride;
};

template <typename Fetch> MTC_INLINE void take(Ahead &ahead, Fetch fetch) {
  if (ahead.wait > 0)
    return (void)--ahead.wait;
  for (int64_t i = 0; i < ahead.each && ahead.left > 0; ++i, --ahead.left) {
    fetch(ahead.at);
    ahead.at += 64;
    if (++ahead.line == ahead.lines) {
      ahead.line = 0;
      ahead.at += ahead.stride - 64 * ahead.lines;
    }
  }
}
MTC_INLINE void take(Ahead &ahead) {
  take(ahead, [](const char *at) { _mm_prefetch(at, _MM_HINT_T1); });
}

/// Sums of a block, from zero, are added to what was there, counted and stored.
template <int Vectors, typename C>
MTC_INLINE void finishBlock(const BlockCall &call, const Corner<C> &c,
                            const Corner<float> &floats, Block<Vectors> &x) {
  if (call.from == Sums::inC)
    addFrom<Vectors>(x, c);
  if (call.from == Sums::inFloats)
    addFrom<Vectors>(x, floats);
  if constexpr (std::is_same_v<C, float>)
    if (call.window)
      countRows<Vectors>(*call.window, x, c.rows);
  if (call.streams && streamTo<Vectors>(c, x))
    return;
  if (call.to == Sums::inC)
    storeTo<Vectors>(c, x);
  else
    storeTo<Vectors>(floats, x);
}

/// From row i and column j of a call on.
template <typename C>
MTC_INLINE Corner<C> cornerOf(const BlockCall &call, int64_t i, int64_t j) {
  return {static_cast<C *>(call.c) + i * call.stride + j, call.stride,
          call.rows - i, call.columns - j};
}
MTC_INLINE Corner<float> floatsOf(const BlockCall &call, int64_t i, int64_t j) {
  return {call.floats + i * call.floatStride + j, call.floatStride,
          call.rows - i, call.columns - j};
}

template <int Vectors, typename Terms, template <int, typename> typename Fetch,
          typename C, typename Rows, typename Columns>
MTC_INLINE void registerBlock(const Rows &rows, Columns b, const float *nextB,
                              const BlockCall &call, const Corner<C> &c,
                              const Corner<float> &floats) {
  constexpr int kAhead = 8; // units of k
  const Fetch<Vectors, C> fetch(call, c, floats);
  Block<Vectors> x;
#pragma GCC unroll 8
  for (int r = 0; r < kTileRows; ++r)
#pragma GCC unroll 3
    for (int v = 0; v < Vectors; ++v)
      x[r][v] = broadcast(0);
  for (int64_t k = 0; k < call.depth;) {
    rows.prefetch(k);
    fetch.beside(k);
    if (call.ahead)
      take(*call.ahead);
    int64_t next = k + kChunk < call.depth ? k + kChunk : call.depth;
    for (; k < next; ++k, b.next()) {
      F columns[Vectors];
#pragma GCC unroll 3
      for (int v = 0; v < Vectors; ++v) {
        columns[v] = b.vector(v);
        _mm_prefetch((const char *)(b.at + kAhead * kPanelColumns + v * kW),
                     _MM_HINT_T0);
      }
#pragma GCC unroll 8
      for (int r = 0; r < kTileRows; ++r) {
        F row = rows.unit(r, k);
#pragma GCC unroll 3
        for (int v = 0; v < Vectors; ++v)
          x[r][v] = Terms::add(x[r][v], row, columns[v]);
      }
    }
  }
  for (int64_t i = 0; i < kAhead * kPanelColumns; i += 16)
    _mm_prefetch((const char *)(nextB + i), _MM_HINT_T0);
  finishBlock<Vectors>(call, c, floats, x);
}

template <int Vectors, typename Terms, template <int, typename> typename Fetch,
          typename C, typename Rows, typename Columns>
void blockAt(const BlockCall &call, int64_t i, int64_t j, Columns panel) {
  bool areLastColumns = call.columns - j <= kPanelColumns;
  const float *next = panel.at;
  if (call.byRows)
    next = areLastColumns ? call.b : next + kPanelColumns * call.depth;
  registerBlock<Vectors, Terms, Fetch>(Rows(call, i, areLastColumns), panel,
                                       next, call, cornerOf<C>(call, i, j),
                                       floatsOf(call, i, j));
}

/// The last panel may have fewer columns than it has room for.
template <typename Terms, template <int, typename> typename Fetch, typename C,
          typename Rows>
MTC_INLINE void panelBlock(const BlockCall &call, int64_t i, int64_t j) {
  PackedColumns panel{call.b + j * call.depth};
  int64_t columns = call.columns - j;
  if (columns > 2 * kW)
    blockAt<3, Terms, Fetch, C, Rows>(call, i, j, panel);
  else if (columns > kW)
    blockAt<2, Terms, Fetch, C, Rows>(call, i, j, panel);
  else
    blockAt<1, Terms, Fetch, C, Rows>(call, i, j, panel);
}

/// Of the first rows and a whole panel, which is packed by it.
template <typename Terms, typename Units,
          template <int, typename> typename Fetch, typename C>
MTC_INLINE void freshBlock(const BlockCall &call, int64_t j) {
  using Element = typename Units::Element;
  blockAt<kVectors, Terms, Fetch, C, PlainRows>(
      call, 0, j,
      FreshColumns<Units>{call.b + j * call.depth,
                          static_cast<const Element *>(call.unpacked) + j,
                          call.unpackedStride});
}

template <typename Terms, typename Units,
          template <int, typename> typename Fetch, typename C>
MTC_INLINE void plainBlock(const BlockCall &call, int64_t i, int64_t j) {
  if (!call.unpacked || i > 0)
    panelBlock<Terms, Fetch, C, PlainRows>(call, i, j);
  else if constexpr (kIsPlain<Units>)
    freshBlock<Terms, Units, Fetch, C>(call, j);
}

/// What all of the other operand passes by stays in the second-level cache:
/// panels of op(b), or rows of op(a).
template <typename Terms, typename Units,
          template <int, typename> typename Fetch, typename C>
void multiplyInto(const BlockCall &call) {
  if (!call.byRows)
    for (int64_t j = 0; j < call.columns; j += kPanelColumns)
      for (int64_t i = 0; i < call.rows; i += kTileRows)
        panelBlock<Terms, Fetch, C, PackedRows>(call, i, j);
  else
    for (int64_t i = 0; i < call.rows; i += kTileRows)
      for (int64_t j = 0; j < call.columns; j += kPanelColumns)
        if (call.aStride == 0)
          panelBlock<Terms, Fetch, C, PackedRows>(call, i, j);
        else
          plainBlock<Terms, Units, Fetch, C>(call, i, j);
}

template <typename Terms, typename Units,
          template <int, typename> typename Fetch>
void multiplyBlock(const BlockCall &call) {
  if (call.type == MTC_F32)
    multiplyInto<Terms, Units, Fetch, float>(call);
  else if (call.type == MTC_BF16)
    multiplyInto<Terms, Units, Fetch, Bf16>(call);
  else
    multiplyInto<Terms, Units, Fetch, F16>(call);
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_TILE_H
