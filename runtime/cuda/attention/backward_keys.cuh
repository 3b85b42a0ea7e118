//===- backward_keys.cuh - flash attention, dk and dv -----------*- C++ -*-===//
//
// With P the softmax, M the dropout factors (0 or 1/(1-rate)) and D the dots:
//   dv = (P∘M)ᵀ·dout,  dP = M∘(dout·vᵀ),  dS = P∘(dP - D),  dk = scale·dSᵀ·q.
// All are computed transposed, with keys as rows, so that P and dS come as the
// left operands of the products behind them. A warp owns rows of keys; it walks
// over the heads of its group in ascending order, and in each over the queries.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_ATTENTION_BACKWARD_KEYS_CUH
#define MTC_RUNTIME_CUDA_ATTENTION_BACKWARD_KEYS_CUH

#include "dropout.cuh"
#include "heads.cuh"
#include "products.cuh"

namespace mtc::cuda {

/// Scores become P; `lse` is where those of the columns are.
template <int M, int N>
MTC_DEVICE void probabilities(float (&s)[M][N][4], uint32_t lse, float scale2) {
#pragma unroll
  for (int n = 0; n < N; ++n) {
    float2 pair = loadPair(lse + 32 * n + threadIdx.x % 4 * 8);
    float shift[2] = {pair.x * CUDART_L2E_F, pair.y * CUDART_L2E_F};
#pragma unroll
    for (int m = 0; m < M; ++m)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        s[m][n][e] = exp2Fast(__fmaf_rn(s[m][n][e], scale2, -shift[e % 2]));
  }
}

/// dP becomes dS; `dots` is where those of the columns are.
template <int M, int N>
MTC_DEVICE void gradientsOfKeys(float (&dp)[M][N][4],
                                const float (&s)[M][N][4], uint32_t dots) {
#pragma unroll
  for (int n = 0; n < N; ++n) {
    float2 pair = loadPair(dots + 32 * n + threadIdx.x % 4 * 8);
    float dot[2] = {pair.x, pair.y};
#pragma unroll
    for (int m = 0; m < M; ++m)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        dp[m][n][e] = s[m][n][e] * (dp[m][n][e] - dot[e % 2]);
  }
}

/// Behind the last query that may see a key before `end`.
MTC_DEVICE int endQuery(const Places &places, int begin, int end, int step) {
  if (!places.p.documents)
    return places.p.seq;
  int query = begin;
  while (query < places.p.seq && places.firstKey(query) < end)
    query += step;
  return min(query, places.p.seq);
}

/// What a step is copied from and to.
template <int D> struct QuerySteps {
  static constexpr AttentionTiles kTiles =
      attentionTiles(AttentionKernel::keys, D);
  static constexpr int kTileBytes = kTiles.step * 2 * D;
  static constexpr int kBytes = 2 * kTileBytes + 8 * kTiles.step;

  // Within a place of kBytes: q is at 0.
  static constexpr int kDout = kTileBytes;
  static constexpr int kLse = 2 * kTileBytes; ///< then as many dots
  
  static MTC_DEVICE void copy(const AttentionParams &p, int head, int query,
                              uint32_t place) {
    copyRows<D, kTiles.step, kTiles.threads()>(place, queryRows(p, head),
                                               query);
    copyRows<D, kTiles.step, kTiles.threads()>(
        place + kDout, outRows(p, p.dout, head), query);
    int i = int(threadIdx.x) % kTiles.step;
    const float *from = threadIdx.x < kTiles.step ? p.lse : p.dots;
    bool exists = query + i < p.seq;
    if (threadIdx.x < 2 * kTiles.step)
      copyAsync4(place + kLse + 4 * threadIdx.x,
                 from + rowOffset(p, head) + (exists ? query + i : 0), exists);
    commitCopies();
  }
};

template <Element E, int D> MTC_DEVICE void keys(const AttentionParams &p) {
  using Steps = QuerySteps<D>;
  constexpr AttentionTiles kTiles = Steps::kTiles;
  constexpr int M = kTiles.rowTiles, N = kTiles.part / 8;
  constexpr int kColumns = D / kTiles.splits, kRowBytes = 2 * D;
  int part = int(blockIdx.x) % kTiles.splits, head = int(blockIdx.y);
  int from = int(blockIdx.x) / kTiles.splits * kTiles.rows();
  int ownRow = int(threadIdx.x / 32) * M * 16, own = from + ownRow;
  Places places(p);
  uint32_t k = sharedBase(), v = k + kTiles.rows() * kRowBytes;
  uint32_t here = v + kTiles.rows() * kRowBytes, there = here + Steps::kBytes;
  uint32_t ownK = k + ownRow * kRowBytes, ownV = v + ownRow * kRowBytes;
  LaneRow<D> lane;

  int begin = places.firstQuery(from);
  int end = endQuery(places, begin, from + kTiles.rows(), kTiles.step);
  copyRows<D, kTiles.rows(), kTiles.threads()>(k, keyRows(p, head), from);
  copyRows<D, kTiles.rows(), kTiles.threads()>(v, valueRows(p, head), from);
  commitCopies();
  int reader = head * p.group, lastReader = reader + p.group - 1;
  if (begin < end)
    Steps::copy(p, reader, begin, here);

  float dk[M][kColumns / 8][4], dv[M][kColumns / 8][4];
  float s[M][N][4], dp[M][N][4];
  clear(dk);
  clear(dv);
  float scale2 = p.scale * CUDART_L2E_F;
  int query = begin;
#pragma unroll 1
  while (query < end) {
    int nextQuery = query + kTiles.step, nextReader = reader;
    if (nextQuery >= end && reader < lastReader) {
      nextQuery = begin;
      ++nextReader;
    }
    lane.forget();
    waitForCopies<0>();
    meet();
    if (nextQuery < end)
      Steps::copy(p, nextReader, nextQuery, there);
#pragma unroll 1
    for (int i = 0; i < kTiles.step; i += kTiles.part) {
      int first = query + i;
      if (own >= places.endKey(places.existing(first + kTiles.part - 1)))
        continue;
      uint32_t q = here + i * kRowBytes, dout = q + Steps::kDout;
      uint32_t facts = here + Steps::kLse + 4 * i;
      uint64_t kept = keepQueries<M, N>(places, reader, own, first);
      multiplyRows<E, D>(s, ownK, q, lane);
      if (!places.seeAll(first, kTiles.part, own, own + M * 16))
        hideQueries(s, places, own, first);
      probabilities(s, facts, scale2);
      multiplyRows<E, D>(dp, ownV, dout, lane);
      Packed<M, N> left;
      left.template set<E>(s);
      if (p.dropThreshold) { // what is kept of P is scaled at the end
        drop(left, kept);
        dropGradients(dp, kept, p.dropScale);
      }
      gradientsOfKeys(dp, s, facts + 4 * kTiles.step);
      addProduct<E>(dv, left, dout, part * kColumns / 16, lane);
      left.template set<E>(dp);
      addProduct<E>(dk, left, q, part * kColumns / 16, lane);
    }
    uint32_t other = here;
    here = there;
    there = other;
    query = nextQuery;
    reader = nextReader;
  }
  waitForCopies<0>(); // where no query sees the keys
  meet();
  int column = part * kColumns;
  storeRows<E, kColumns>(
      static_cast<uint16_t *>(p.dk) + keyOffset(p, head) + column, p.kToken,
      own, p.keys, ownK, dk, p.scale);
  storeRows<E, kColumns>(
      static_cast<uint16_t *>(p.dv) + valueOffset(p, head) + column, p.vToken,
      own, p.keys, ownV, dv, p.dropScale);
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_ATTENTION_BACKWARD_KEYS_CUH
