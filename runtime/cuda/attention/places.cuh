//===- places.cuh - who sees whom -------------------------------*- C++ -*-===//
//
// Queries may be two ranges of the sequence; positions ascend along them, and
// so do the first and the last key that a query sees.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_ATTENTION_PLACES_CUH
#define MTC_RUNTIME_CUDA_ATTENTION_PLACES_CUH

#include "runtime/cuda/attention/attention_params.h"
#include "runtime/cuda/attention/instructions.cuh"

#include <math_constants.h>

namespace mtc::cuda {

/// Of the block's sample. Parameters are read where they are needed, so that
/// they take no registers.
struct Places {
  const AttentionParams &p;

  MTC_DEVICE explicit Places(const AttentionParams &p) : p(p) {}

  MTC_DEVICE int position(int query) const {
    return query < p.first ? p.begin + query : p.begin2 + query - p.first;
  }
  /// The first key that a query sees.
  MTC_DEVICE int firstKey(int query) const {
    if (!p.documents)
      return 0;
    int64_t row = int64_t(blockIdx.z) * p.seq + query;
    return min(p.documents[row], position(query));
  }
  /// Behind the last one.
  MTC_DEVICE int endKey(int query) const {
    return p.causal ? min(position(query) + 1, p.keys) : p.keys;
  }
  /// The first query that may see a key.
  MTC_DEVICE int firstQuery(int key) const {
    if (!p.causal)
      return 0;
    int query = max(key - p.begin, 0);
    return query < p.first ? query : max(key - p.begin2, 0) + p.first;
  }
  /// Queries [from, from + count), some of which may not exist, see all the
  /// keys [key, end).
  MTC_DEVICE bool seeAll(int from, int count, int key, int end) const {
    return end <= endKey(from) && firstKey(min(from + count, p.seq) - 1) <= key;
  }
  /// What stands for a query that does not exist.
  MTC_DEVICE int existing(int query) const { return min(query, p.seq - 1); }
};

/// -inf where a row does not see a column. Rows are queries from `query` on,
/// columns keys from `key` on.
template <int M, int N>
MTC_DEVICE void hideKeys(float (&s)[M][N][4], const Places &places, int query,
                         int key) {
  int lane = int(threadIdx.x & 31), column = key + lane % 4 * 2;
#pragma unroll
  for (int m = 0; m < M; ++m)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      int row = places.existing(query + m * 16 + h * 8 + lane / 4);
      int first = places.firstKey(row), end = places.endKey(row);
#pragma unroll
      for (int n = 0; n < N; ++n)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          int j = column + n * 8 + e;
          if (j < first || j >= end)
            s[m][n][2 * h + e] = -CUDART_INF_F;
        }
    }
}

/// The same of transposed scores: rows are keys, columns queries.
template <int M, int N>
MTC_DEVICE void hideQueries(float (&s)[M][N][4], const Places &places, int key,
                            int query) {
  int lane = int(threadIdx.x & 31);
#pragma unroll
  for (int n = 0; n < N; ++n)
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      int column = places.existing(query + n * 8 + lane % 4 * 2 + e);
      int first = places.firstKey(column), end = places.endKey(column);
#pragma unroll
      for (int m = 0; m < M; ++m)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          int j = key + m * 16 + h * 8 + lane / 4;
          if (j < first || j >= end)
            s[m][n][2 * h + e] = -CUDART_INF_F;
        }
    }
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_ATTENTION_PLACES_CUH
