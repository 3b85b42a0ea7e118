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

#include "runtime/cuda/attention/dropout.cuh"
#include "runtime/cuda/attention/heads.cuh"
#include "runtime/cuda/attention/products.cuh"

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
MTC_DEVICE void gradientsOfKeys(float (&dp)[M][N][4], const float (&s)[M][N][4],
                                uint32_t dots) {
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
    copyRows<D, kTiles.step, kTiles.threads()>(place, likeQ(p, p.q, head),
                                               query);
    copyRows<D, kTiles.step, kTiles.threads()>(place + kDout,
                                               likeOut(p, p.dout, head), query);
    int i = int(threadIdx.x) % kTiles.step;
    const float *from = threadIdx.x < kTiles.step ? p.lse : p.dots;
    bool exists = query + i < p.seq;
    if (threadIdx.x < 2 * kTiles.step)
      copyAsync4(place + kLse + 4 * threadIdx.x,
                 from + rowOffset(p, head) + (exists ? query + i : 0), exists);
    commitCopies();
  }
};

/// The rows of a warp, and where they are in shared memory.
struct OwnKeys {
  int first;
  uint32_t k, v;
};

/// Queries whose scores are in registers at once, and the same of them.
struct QueryPart {
  int first, head;
  uint32_t q, dout, lse, dots;
};

/// Adds to the dk and dv of a warp what some queries give, of columns from
/// 16·column on.
template <Element E, int D, int M, int N, int C>
MTC_DEVICE void addPart(float (&dk)[M][C][4], float (&dv)[M][C][4],
                        const Places &places, const OwnKeys &own,
                        const QueryPart &queries, int column,
                        const LaneRow<D> &lane) {
  const AttentionParams &p = places.p;
  float s[M][N][4], dp[M][N][4];
  uint64_t kept =
      keepQueries<M, N>(places, queries.head, own.first, queries.first);
  multiplyRows<E, D>(s, own.k, queries.q, lane);
  if (!places.seeAll(queries.first, 8 * N, own.first, own.first + 16 * M))
    hideQueries(s, places, own.first, queries.first);
  probabilities(s, queries.lse, p.scale * CUDART_L2E_F);
  multiplyRows<E, D>(dp, own.v, queries.dout, lane);
  Packed<M, N> left;
  left.template set<E>(s);
  if (p.dropThreshold) { // what is kept of P is scaled at the end
    drop(left, kept);
    dropGradients(dp, kept, p.dropScale);
  }
  gradientsOfKeys(dp, s, queries.dots);
  addProduct<E>(dv, left, queries.dout, column, lane);
  left.template set<E>(dp);
  addProduct<E>(dk, left, queries.q, column, lane);
}

/// The columns of rows from `first` on.
MTC_DEVICE HeadRows<uint16_t> columns(HeadRows<uint16_t> rows, int first) {
  return {rows.p + first, rows.stride, rows.count, rows.chunks - first / 8};
}

template <Element E, int D> MTC_DEVICE void keys(const AttentionParams &p) {
  using Steps = QuerySteps<D>;
  constexpr AttentionTiles kTiles = Steps::kTiles;
  constexpr int M = kTiles.rowTiles;
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
  copyRows<D, kTiles.rows(), kTiles.threads()>(k, likeK(p, p.k, head), from);
  copyRows<D, kTiles.rows(), kTiles.threads()>(v, likeV(p, p.v, head), from);
  commitCopies();
  int reader = head * p.group, lastReader = reader + p.group - 1;
  if (begin < end)
    Steps::copy(p, reader, begin, here);

  float dk[M][kColumns / 8][4], dv[M][kColumns / 8][4];
  clear(dk);
  clear(dv);
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
    __syncthreads();
    if (nextQuery < end)
      Steps::copy(p, nextReader, nextQuery, there);
#pragma unroll 1
    for (int i = 0; i < kTiles.step; i += kTiles.part) {
      QueryPart queries{query + i,
                        reader,
                        here + i * kRowBytes,
                        here + i * kRowBytes + Steps::kDout,
                        here + Steps::kLse + 4 * i,
                        here + Steps::kLse + 4 * (i + kTiles.step)};
      if (own < places.endKey(places.existing(query + i + kTiles.part - 1)))
        addPart<E, D, M, kTiles.part / 8>(dk, dv, places, {own, ownK, ownV},
                                          queries, part * kColumns / 16, lane);
    }
    uint32_t other = here;
    here = there;
    there = other;
    query = nextQuery;
    reader = nextReader;
  }
  waitForCopies<0>(); // where no query sees the keys
  __syncthreads();
  storeRows<E, kColumns>(columns(likeK(p, p.dk, head), part * kColumns), own,
                         ownK, dk, p.scale);
  storeRows<E, kColumns>(columns(likeV(p, p.dv, head), part * kColumns), own,
                         ownV, dv, p.dropScale);
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_ATTENTION_BACKWARD_KEYS_CUH
