//===- attention_fetch.h - tokens fetched beside products -------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_ATTENTION_FETCH_H
#define MTC_RUNTIME_KERNELS_CPU_ATTENTION_FETCH_H

#include "runtime/kernels/cpu/attention_shapes.h"

#include <type_traits>

namespace {

/// Bytes of the second cache of a core, as Zen 4 and 5 have it.
constexpr int64_t kSecondCache = int64_t(1) << 20;

/// Brings into the second cache what a head writes at its end and what the next
/// one reads at its beginning, spread over products of the head at hand (all,
/// or the last ones of a long head): packing does little else than to wait for
/// memory, and products do not touch it. Fetches nothing but what is added, and
/// changes no result.
class Fetcher {
public:
  /// For heads of so many register tiles.
  explicit Fetcher(int64_t tiles) : tiles(tiles) {}

  /// Of a head whose arrays have so many bytes; forgets what was left of the
  /// one before. What is fetched beside all of a head that fills the cache
  /// would drive out what that still needs: it fetches from the last quarter of
  /// its tiles on, at twice the pace that would do, as the tiles of a head that
  /// has some at a diagonal are fewer; of documents, that skip tiles, a part of
  /// it or nothing is fetched.
  void begin(int64_t bytes) {
    count = at = token = tokens = saved = 0;
    bool fills = bytes > kSecondCache;
    waits = fills ? tiles - tiles / kLastPart : 0;
    rate = fills ? 2 * kLastPart : 1;
  }

  /// What is read, or written, of a head. At most kMost of them.
  template <typename T>
  void add(HeadView<T> x, int64_t tokensOfHead, const Plan &p) {
    spans[count++] = {(const char *)x.p, x.tokenStride * int64_t(sizeof(T)),
                      p.dim * int64_t(sizeof(T)), tokensOfHead,
                      !std::is_const_v<T>};
    tokens += tokensOfHead;
  }

  /// The share of a register tile.
  MTC_INLINE void step() {
    if (--waits >= 0)
      return;
    for (saved += rate * tokens; saved >= tiles && at < count; saved -= tiles)
      fetchToken();
  }

private:
  struct Span {
    const char *p;
    int64_t stride, bytes, tokens; ///< the first two in bytes
    bool written;
  };
  static constexpr int kMost = 8;
  static constexpr int64_t kLastPart = 4; ///< one in so many tiles

  MTC_INLINE void fetchToken() {
    constexpr int64_t kLine = 64;
    const Span &s = spans[at];
    const char *row = s.p + token * s.stride;
    if (s.written)
      for (int64_t i = 0; i < s.bytes; i += kLine)
        __builtin_prefetch(row + i, 1, 2);
    else
      for (int64_t i = 0; i < s.bytes; i += kLine)
        __builtin_prefetch(row + i, 0, 2);
    if (++token < s.tokens)
      return;
    token = 0;
    ++at;
  }

  int64_t tiles;
  Span spans[kMost];
  int64_t count = 0, at = 0; ///< of spans
  int64_t token = 0;         ///< the next one of the span at hand
  int64_t tokens = 0;        ///< of all spans
  int64_t waits = 0;         ///< tiles before the first that fetches
  int64_t rate = 1;          ///< shares of such a tile
  int64_t saved = 0;         ///< of the share, in parts of a token
};

/// Fetches beside a product in which nothing is drawn.
class FetchBeside : public NothingBeside {
public:
  explicit FetchBeside(Fetcher &fetcher) : fetcher(fetcher) {}
  MTC_INLINE void beforeTile() { fetcher.step(); }

private:
  Fetcher &fetcher;
};

/// How many times a head fetches something, tiles at the diagonal taken as
/// whole: with each register tile, where of a tile of at most `most` rows
/// `scores` products have its columns and `sums` have those of a head; by AMX
/// tiles with each row, beside its exponentials.
inline int64_t registerTiles(const Plan &p, int64_t most, int64_t scores,
                             int64_t sums) {
  int64_t blocks = 0;
  for (const QueryRange &range : p.ranges)
    for (int64_t i0 = range.from; i0 < range.end; i0 += most)
      for (int64_t j0 = 0; j0 < p.keys.count; j0 += kTile) {
        TileAt at = tileAt(p, range, i0, j0, most);
        blocks += at.isSeen() ? roundUp(at.rows, kTileRows) / kTileRows : 0;
      }
  if constexpr (kHasTiles)
    return blocks * kTileRows;
  return blocks * (scores * kTile + sums * p.headPad) / kTileCols;
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_ATTENTION_FETCH_H
