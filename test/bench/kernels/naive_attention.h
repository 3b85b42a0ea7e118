//===- naive_attention.h - the loops one would write first ------*- C++ -*-===//
#ifndef MTC_TEST_BENCH_KERNELS_NAIVE_ATTENTION_H
#define MTC_TEST_BENCH_KERNELS_NAIVE_ATTENTION_H

#include <cstdint>

namespace mtc::bench {

/// Causal attention of dense [heads, seq, dim] arrays, storing all
/// probabilities [heads, seq, seq].
void naiveForward(int64_t heads, int64_t seq, int64_t dim, const float *q,
                  const float *k, const float *v, float *out, float *prob);
/// Adds the gradients to dq, dk, dv.
void naiveBackward(int64_t heads, int64_t seq, int64_t dim, const float *dout,
                   const float *q, const float *k, const float *v,
                   const float *prob, float *dq, float *dk, float *dv);

} // namespace mtc::bench
#endif // MTC_TEST_BENCH_KERNELS_NAIVE_ATTENTION_H
