#include "naive_attention.h"

#include <cmath>
#include <vector>

namespace mtc::bench {

static float dot(const float *a, const float *b, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i)
    sum += a[i] * b[i];
  return sum;
}

static void add(float *to, float x, const float *from, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    to[i] += x * from[i];
}

void naiveForward(int64_t heads, int64_t seq, int64_t dim, const float *q,
                  const float *k, const float *v, float *out, float *prob) {
  float scale = 1.0f / std::sqrt(float(dim));
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t i = 0; i < seq; ++i) {
      int64_t row = h * seq + i;
      float *p = prob + row * seq, top = -1e30f, sum = 0;
      for (int64_t j = 0; j <= i; ++j) {
        p[j] = scale * dot(q + row * dim, k + (h * seq + j) * dim, dim);
        top = p[j] > top ? p[j] : top;
      }
      for (int64_t j = 0; j <= i; ++j)
        sum += p[j] = std::exp(p[j] - top);
      for (int64_t e = 0; e < dim; ++e)
        out[row * dim + e] = 0;
      for (int64_t j = 0; j <= i; ++j)
        add(out + row * dim, p[j] /= sum, v + (h * seq + j) * dim, dim);
    }
}

void naiveBackward(int64_t heads, int64_t seq, int64_t dim, const float *dout,
                   const float *q, const float *k, const float *v,
                   const float *prob, float *dq, float *dk, float *dv) {
  float scale = 1.0f / std::sqrt(float(dim));
  std::vector<float> dp(static_cast<size_t>(seq));
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t i = 0; i < seq; ++i) {
      int64_t row = h * seq + i;
      const float *p = prob + row * seq;
      float mean = 0;
      for (int64_t j = 0; j <= i; ++j) {
        int64_t key = (h * seq + j) * dim;
        dp[size_t(j)] = dot(dout + row * dim, v + key, dim);
        add(dv + key, p[j], dout + row * dim, dim);
        mean += p[j] * dp[size_t(j)];
      }
      for (int64_t j = 0; j <= i; ++j) {
        int64_t key = (h * seq + j) * dim;
        float ds = scale * p[j] * (dp[size_t(j)] - mean);
        add(dq + row * dim, ds, k + key, dim);
        add(dk + key, ds, q + row * dim, dim);
      }
    }
}

} // namespace mtc::bench
