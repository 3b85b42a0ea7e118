//===- attention_dropout.h - which probabilities are kept -------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_ATTENTION_DROPOUT_H
#define MTC_RUNTIME_KERNELS_CPU_ATTENTION_DROPOUT_H

#include "runtime/kernels/cpu/attention_fetch.h"
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
  explicit KeptRow(const void *bits) : bits((const char *)bits) {}
  /// x where key j + lane is kept, 0 elsewhere.
  MTC_INLINE F keep(int64_t j, F x) const {
    return _mm512_maskz_mov_ps(lanes(j), x);
  }
  /// The same of x·factor.
  MTC_INLINE F keepTimes(int64_t j, F x, F factor) const {
    return _mm512_maskz_mul_ps(lanes(j), x, factor);
  }

private:
  /// Of a vector, where they lie: a row's runs are its bits as they are.
  MTC_INLINE __mmask16 lanes(int64_t j) const {
    __mmask16 mask;
    __builtin_memcpy(&mask, bits + j / 8, sizeof mask);
    return mask;
  }
  const char *bits = nullptr;
};

/// What of a tile of scores is kept, drawn for all rows together: first whole
/// runs of blocks, which may begin before a row's first key. Runs are drawn
/// beside a product, whose multiplications leave most of the units that draw
/// idle, one run with a group of its steps.
class KeptTile {
  static constexpr int kRun = 4 * kBlocks; ///< words of a run
  static constexpr int kMostRuns = 3;      ///< of a row

public:
  KeptTile(const Dropper &drop, const TileAt &at, int64_t keys,
           Fetcher &fetcher)
      : drop(drop), at(at), keys(keys),
        hasWholeRows(at.isWhole() && keys % 4 == 0), fetcher(fetcher) {
    if (!drop.threshold)
      return;
    uint64_t begin = drop.elementOf(at, 0, keys) / 4;
    uint64_t last = hasWholeRows ? listWholeRows(begin) : listRuns(begin);
    if (begin >> 32 != last >> 32)
      drawAcross();
    drawer = RunDrawer(drop.stream, begin >> 32, drop.threshold);
  }

  MTC_INLINE void beforeTile() { fetcher.step(); }
  static constexpr int kSteps = 8; ///< of a product, in a group
  MTC_INLINE bool isDrawing() const { return done < count; }
  class Group {
  public:
    MTC_INLINE explicit Group(KeptTile &tile) : tile(tile) {}
    MTC_INLINE void step(int step) {
      const RunDrawer &drawer = tile.drawer;
      if (step == 0)
        drawer.begin(run, tile.first[tile.done]);
      if (step < kSteps - 1)
        drawer.round(run, RunDrawer::kFirstRound + step);
      else
        drawer.last(run, tile.runs + tile.done++);
    }

  private:
    KeptTile &tile;
    U run[4];
  };

  /// What is left of the runs, then the bits of each row, if runs are not
  /// those.
  void finish() {
    for (; done + kDrawnAtOnce <= count; done += kDrawnAtOnce)
      drawSome<kDrawnAtOnce>();
    for (; done < count; ++done)
      drawSome<1>();
    if (hasWholeRows)
      return;
    const uint32_t *next = runs;
    onRows([&](int64_t row, uint64_t element, int64_t words) {
      int skip = int(element % 4);
      uint64_t two = next[0];
      if (words > kRun)
        two |= uint64_t(next[1]) << kRun;
      bits[row] = two >> skip;
      if (words > 2 * kRun)
        bits[row] |= uint64_t(next[2]) << (2 * kRun - skip);
      next += runsOf(words);
    });
  }
  MTC_INLINE void draw(KeptRow &row, int64_t index) const {
    row = KeptRow(bitsAt(index));
  }
  MTC_INLINE uint64_t bitsOf(int64_t row) const {
    uint64_t all;
    __builtin_memcpy(&all, bitsAt(row), sizeof all);
    return all;
  }

private:
  MTC_INLINE const void *bitsAt(int64_t row) const {
    return hasWholeRows ? (const void *)(runs + kOfWholeRow * row) : bits + row;
  }
  static constexpr int kDrawnAtOnce = 4;
  static constexpr int kOfWholeRow = kTile / kRun; ///< runs
  static_assert(kOfWholeRow == 2, "a row's runs are its 64 bits");

  /// The first products of the runs of whole rows, from a block on, and the
  /// last block.
  uint64_t listWholeRows(uint64_t block) {
    constexpr uint64_t kNext = uint64_t(kBlocks) * kPhiloxMul0;
    uint64_t product = RunDrawer::productOf(block);
    uint64_t row = uint64_t(keys) / 4 * kPhiloxMul0;
    for (; count < kOfWholeRow * at.rows;
         count += kOfWholeRow, product += row) {
      first[count] = product;
      first[count + 1] = product + kNext;
    }
    return block + uint64_t(at.rows - 1) * (uint64_t(keys) / 4) +
           kOfWholeRow * kBlocks - 1;
  }
  /// The same of any rows. A row's last runs may be of words beyond it.
  uint64_t listRuns(uint64_t last) {
    onRows([&](int64_t, uint64_t element, int64_t words) {
      uint64_t product = RunDrawer::productOf(element / 4);
      for (int i = 0; i < kMostRuns; ++i)
        first[count + i] = product + uint64_t(i * kBlocks) * kPhiloxMul0;
      int64_t runs = runsOf(words);
      count += runs;
      last = element / 4 + uint64_t(runs * kBlocks - 1);
    });
    return last;
  }

  /// Calls body(row, its first element, words from that one's block on).
  template <typename Body> MTC_INLINE void onRows(Body &&body) const {
    uint64_t element = drop.elementOf(at, 0, keys);
    for (int64_t from = 0; from < at.rows; from += kTileRows) {
      int64_t columns = at.columnsOf(from);
      int64_t end = within(from + kTileRows, 0, at.rows);
      for (int64_t row = from; row < end; ++row) {
        body(row, element, int64_t(element % 4) + columns);
        element += uint64_t(keys);
      }
    }
  }
  MTC_INLINE static int64_t runsOf(int64_t words) {
    return 1 + (words > kRun) + (words > 2 * kRun);
  }

  template <int kRuns> MTC_INLINE void drawSome() {
    U c[kRuns][4];
#pragma GCC unroll 4
    for (int i = 0; i < kRuns; ++i)
      drawer.begin(c[i], first[done + i]);
#pragma GCC unroll 8
    for (int round = RunDrawer::kFirstRound; round < RunDrawer::kLastRound;
         ++round)
#pragma GCC unroll 4
      for (int i = 0; i < kRuns; ++i)
        drawer.round(c[i], round);
#pragma GCC unroll 4
    for (int i = 0; i < kRuns; ++i)
      drawer.last(c[i], runs + done + i);
  }
  /// All runs, where their upper halves differ: one in 2^32 blocks.
  void drawAcross() {
    onRows([&](int64_t, uint64_t element, int64_t words) {
      for (int64_t i = 0; i < runsOf(words); ++i)
        runs[done++] = drawAlone(element / 4 + uint64_t(i * kBlocks));
    });
  }
  uint32_t drawAlone(uint64_t block) const {
    uint32_t words[kRun], run = 0;
    philoxBlocks(words, drop.stream, block);
    for (int word = 0; word < kRun; ++word)
      run |= uint32_t(words[word] >= drop.threshold) << word;
    return run;
  }

  const Dropper &drop;
  const TileAt &at;
  const int64_t keys;
  /// Whether each row is kTile words that begin with a block: its runs are its
  /// bits then. So it is of every tile but those at a diagonal or an end, where
  /// keys are a multiple of 4.
  const bool hasWholeRows;
  int64_t count = 0, done = 0; ///< runs
  Fetcher &fetcher;
  RunDrawer drawer;
  uint64_t first[kTile * kMostRuns]; ///< of each run
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
class KeptTile : public FetchBeside {
public:
  KeptTile(const Dropper &drop, const TileAt &at, int64_t keys,
           Fetcher &fetcher)
      : FetchBeside(fetcher), drop(drop), at(at), keys(keys) {}
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
