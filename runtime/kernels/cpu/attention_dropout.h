//===- attention_dropout.h - which probabilities are kept -------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_ATTENTION_DROPOUT_H
#define MTC_RUNTIME_KERNELS_CPU_ATTENTION_DROPOUT_H

#include "runtime/kernels/cpu/attention_shapes.h"
#include "runtime/kernels/cpu/philox_body.h"

namespace {

/// Dropout of one head's probabilities.
struct Dropper {
  RowStream stream;
  uint64_t headBase;  ///< element of (head, 0, 0), of the whole sequence
  uint32_t threshold; ///< 0: there is none
  float scale;

  /// The element of the first key of a row of a tile.
  MTC_INLINE uint64_t elementOf(const TileAt &at, int64_t row,
                                int64_t keys) const {
    uint64_t i = uint64_t(at.position + row);
    return headBase + i * uint64_t(keys) + uint64_t(at.j0);
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

#ifdef __AVX512F__
/// A bit of each of a row's kTile keys.
class KeptRow {
public:
  KeptRow() = default;
  explicit KeptRow(uint64_t bits) : bits(bits) {}
  /// x where key j + lane is kept, 0 elsewhere.
  MTC_INLINE F keep(int64_t j, F x) const {
    return _mm512_maskz_mov_ps(__mmask16(bits >> j), x);
  }
  /// The same of x·factor.
  MTC_INLINE F keepTimes(int64_t j, F x, F factor) const {
    return _mm512_maskz_mul_ps(__mmask16(bits >> j), x, factor);
  }

private:
  uint64_t bits = 0;
};

/// What of a tile of scores is kept, drawn for all rows together: first whole
/// runs of blocks, which may begin before a row's first key. Runs are drawn
/// beside a product, whose multiplications leave most of the units that draw
/// idle: it calls step<0> to step<kSteps - 1> in turn while isDrawing() says
/// so.
class KeptTile {
  static constexpr int kRun = 4 * kBlocks; ///< words of a run
  static constexpr int kMostRuns = 3;      ///< of a row

public:
  static constexpr int kSteps = 4;

  KeptTile(const Dropper &drop, const TileAt &at, int64_t keys)
      : drop(drop), at(at), keys(keys) {
    if (!drop.threshold)
      return;
    for (int64_t row = 0; row < at.rows; ++row) {
      uint64_t element = drop.elementOf(at, row, keys);
      int64_t words = int64_t(element % 4) + at.columnsOf(row);
      for (int64_t i = 0; i == 0 || i * kRun < words; ++i)
        first[count++] = element / 4 + uint64_t(i) * kBlocks;
    }
    uint64_t last = first[count - 1] + kBlocks - 1;
    if (first[0] >> 32 != last >> 32)
      drawAcross();
    drawer = RunDrawer(drop.stream, first[0] >> 32, drop.threshold);
  }

  MTC_INLINE bool isDrawing() const { return done < count; }
  template <int kStep> MTC_INLINE void step() {
    if constexpr (kStep == 0)
      drawer.begin(state, first[done]);
    drawer.rounds(state, 2 + 2 * kStep, 4 + 2 * kStep);
    if constexpr (kStep == kSteps - 1)
      runs[done++] = drawer.end(state);
  }

  /// What is left of the runs, then the bits of each row.
  void finish() {
    for (; done + kAtOnce <= count; done += kAtOnce)
      drawSome<kAtOnce>();
    for (; done < count; ++done)
      drawSome<1>();
    const uint32_t *next = runs;
    for (int64_t row = 0; row < at.rows; ++row) {
      int skip = int(drop.elementOf(at, row, keys) % 4);
      next = join(bits[row], next, skip, skip + at.columnsOf(row));
    }
  }
  MTC_INLINE void draw(KeptRow &row, int64_t index) const {
    row = KeptRow(bits[index]);
  }

private:
  static constexpr int kAtOnce = 4;

  template <int kRuns> MTC_INLINE void drawSome() {
    U c[kRuns][4];
#pragma GCC unroll 4
    for (int i = 0; i < kRuns; ++i)
      drawer.begin(c[i], first[done + i]);
#pragma GCC unroll 8
    for (int round = 2; round < 10; ++round)
#pragma GCC unroll 4
      for (int i = 0; i < kRuns; ++i)
        drawer.rounds(c[i], round, round + 1);
#pragma GCC unroll 4
    for (int i = 0; i < kRuns; ++i)
      runs[done + i] = drawer.end(c[i]);
  }
  /// All runs, where their upper halves differ: one in 2^32 blocks.
  void drawAcross() {
    for (; done < count; ++done) {
      uint32_t words[kRun];
      philoxBlocks(words, drop.stream, first[done]);
      runs[done] = 0;
      for (int word = 0; word < kRun; ++word)
        runs[done] |= uint32_t(words[word] >= drop.threshold) << word;
    }
  }
  /// The bits of a row from the `skip`th of its runs on; returns the next
  /// row's.
  MTC_INLINE static const uint32_t *join(uint64_t &row, const uint32_t *runs,
                                         int skip, int64_t words) {
    row = *runs++;
    if (words > kRun)
      row |= uint64_t(*runs++) << kRun;
    row >>= skip;
    if (words > 2 * kRun)
      row |= uint64_t(*runs++) << (2 * kRun - skip);
    return runs;
  }

  const Dropper &drop;
  const TileAt &at;
  int64_t keys, count = 0, done = 0; ///< runs
  U state[4];                        ///< of the run that is being drawn
  RunDrawer drawer;
  uint64_t first[kTile * kMostRuns];
  uint32_t runs[kTile * kMostRuns];
  uint64_t bits[kTile];
};
#else
/// Words of a row.
class KeptRow {
public:
  MTC_INLINE F keep(int64_t j, F x) const {
    return keepWhere(words + j, threshold, x);
  }
  MTC_INLINE F keepTimes(int64_t j, F x, F factor) const {
    return keep(j, x * factor);
  }
  MTC_INLINE void draw(const Dropper &drop, uint64_t element, int64_t count) {
    int64_t skip = int64_t(element % 4);
    for (int64_t at = 0; at < skip + count; at += 4 * kBlocks)
      philoxBlocks(buffer + at, drop.stream, element / 4 + uint64_t(at) / 4);
    words = buffer + skip;
    threshold = drop.threshold;
  }

private:
  uint32_t buffer[kTile + 8 * kBlocks];
  const uint32_t *words = nullptr;
  uint32_t threshold = 0;
};

/// Rows are drawn when they are asked for.
class KeptTile : public NothingBeside {
public:
  KeptTile(const Dropper &drop, const TileAt &at, int64_t keys)
      : drop(drop), at(at), keys(keys) {}
  void finish() {}
  MTC_INLINE void draw(KeptRow &row, int64_t index) const {
    row.draw(drop, drop.elementOf(at, index, keys), at.columnsOf(index));
  }

private:
  const Dropper &drop;
  const TileAt &at;
  int64_t keys;
};
#endif

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_ATTENTION_DROPOUT_H
