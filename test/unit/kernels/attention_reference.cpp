#include "attention_reference.h"

#include "runtime/base/philox.h"
#include "test/unit/half.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace mtc::test {

namespace {

struct View {
  int64_t at, tokenStride, headStride, heads;
};

void fillRandom(std::vector<float> &x, const MtcAttention &d, const View &v,
                std::mt19937 &rng) {
  std::normal_distribution<float> normal;
  for (int64_t t = 0; t < d.batch * d.seq; ++t)
    for (int64_t h = 0; h < v.heads; ++h)
      for (int64_t e = 0; e < d.head_dim; ++e)
        x[size_t(v.at + t * v.tokenStride + h * v.headStride + e)] =
            normal(rng);
}

} // namespace

Problem::Problem(const Sizes &s, Layout layout, unsigned randomSeed) {
  shape.batch = s.batch;
  shape.seq = shape.keys = shape.first = s.seq;
  begin[1] = s.seq;
  shape.heads = s.heads;
  shape.kv_heads = s.kvHeads;
  shape.head_dim = s.dim;
  shape.causal = s.causal;
  shape.global_heads = s.heads + 3;
  shape.layer = 3;
  shape.site = 1;
  shape.scale = 1.0 / std::sqrt(double(s.dim));
  shape.dropout = s.dropout;
  shape.dtype = s.dtype;
  int64_t gap = layout == Layout::padded ? 3 : 0;
  int64_t headStride = (layout == Layout::fused ? 3 : 1) * s.dim + gap;
  shape.q_head_stride = shape.k_head_stride = shape.v_head_stride = headStride;
  shape.q_token_stride = s.heads * headStride + gap;
  shape.k_token_stride = shape.v_token_stride =
      (layout == Layout::fused ? s.heads : s.kvHeads) * headStride + gap;
  shape.o_head_stride = s.dim + gap;
  shape.o_token_stride = s.heads * shape.o_head_stride + gap;
  int64_t tokens = s.batch * s.seq;
  int64_t qSize = tokens * shape.q_token_stride;
  int64_t kSize = tokens * shape.k_token_stride;
  kAt = layout == Layout::fused ? s.dim : qSize;
  vAt = layout == Layout::fused ? 2 * s.dim : qSize + kSize;
  size_t all = size_t(layout == Layout::fused ? qSize : qSize + 2 * kSize);
  qkv.assign(all, kGap);
  dqkv.assign(all, kGap);
  out.assign(size_t(tokens * shape.o_token_stride), kGap);
  dout = out;
  lse.assign(size_t(s.batch * s.heads * s.seq), kGap);
  std::mt19937 rng(randomSeed);
  fillRandom(qkv, shape, {qAt, shape.q_token_stride, headStride, s.heads}, rng);
  fillRandom(qkv, shape, {kAt, shape.k_token_stride, headStride, s.kvHeads},
             rng);
  fillRandom(qkv, shape, {vAt, shape.v_token_stride, headStride, s.kvHeads},
             rng);
  fillRandom(dout, shape,
             {0, shape.o_token_stride, shape.o_head_stride, s.heads}, rng);
  qkv = roundedTo(s.dtype, qkv);
  dout = roundedTo(s.dtype, dout);
}

namespace {

/// A tensor as the calls get it, with the address of an element.
struct Stored {
  MtcDtype dtype;
  std::vector<std::byte> bytes;
  Stored(const Problem &p, const std::vector<float> &values)
      : dtype(MtcDtype(p.shape.dtype)), bytes(storedAs(dtype, values)) {}
  void *at(int64_t element) {
    return bytes.data() + element * (isHalf(dtype) ? 2 : 4);
  }
  std::vector<float> values() const { return valuesOf(dtype, bytes); }
};

/// Scratch of exactly the promised size, filled with NaN, with a guard behind.
struct Scratch {
  static constexpr float kGuard = 12345.0f;
  std::vector<float> memory;
  size_t size;
  explicit Scratch(const Problem &p)
      : size(size_t(mtc_attention_scratch(&p.shape, p.threads)) /
             sizeof(float)) {
    memory.assign(size + 16, kGuard);
    std::fill_n(memory.begin(), size, NAN);
  }
  ~Scratch() {
    for (size_t i = size; i < memory.size(); ++i)
      EXPECT_EQ(memory[i], kGuard) << "written behind the scratch";
  }
};

} // namespace

void Problem::forward() {
  MtcContext ctx{};
  MtcStepState state{};
  state.block.seed = seed;
  ctx.arena[MTC_ARENA_STEP] = &state;
  ctx.threads = threads;
  Scratch scratch(*this);
  Stored in(*this, qkv), result(*this, out);
  mtc_attention_forward(
      &ctx, &shape, in.at(qAt), in.at(kAt), in.at(vAt), starts(), result.at(0),
      lse.data(), scratch.memory.data(), sample, head, begin[0], begin[1]);
  EXPECT_EQ(ctx.status, 0);
  out = result.values();
}

void Problem::backward() {
  MtcContext ctx{};
  MtcStepState state{};
  state.block.seed = seed;
  ctx.arena[MTC_ARENA_STEP] = &state;
  ctx.threads = threads;
  Scratch scratch(*this);
  Stored in(*this, qkv), forward(*this, out), dIn(*this, dout);
  Stored result(*this, dqkv);
  mtc_attention_backward(
      &ctx, &shape, dIn.at(0), in.at(qAt), in.at(kAt), in.at(vAt), starts(),
      forward.at(0), lse.data(), result.at(qAt), result.at(kAt), result.at(vAt),
      scratch.memory.data(), sample, head, begin[0], begin[1]);
  EXPECT_EQ(ctx.status, 0);
  dqkv = result.values();
}

std::vector<double> dense(const Problem &p, const float *x, int64_t heads,
                          int64_t tokenStride, int64_t headStride) {
  std::vector<double> result;
  for (int64_t t = 0; t < p.shape.batch * p.shape.seq; ++t)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t e = 0; e < p.shape.head_dim; ++e)
        result.push_back(double(x[t * tokenStride + h * headStride + e]));
  return result;
}

double relativeError(const std::vector<double> &a,
                     const std::vector<double> &b) {
  return relativeError(a, b, std::vector<double>(b.size()));
}

double relativeError(const std::vector<double> &a, const std::vector<double> &b,
                     const std::vector<double> &allowed) {
  EXPECT_EQ(a.size(), b.size());
  double error = 0, size = 1e-300;
  for (size_t i = 0; i < b.size(); ++i) {
    double difference = std::fabs(a[i] - b[i]) - allowed[i];
    // A NaN must count: comparisons with it are false.
    error = difference <= error ? error : difference;
    size = std::max(size, std::fabs(b[i]));
  }
  return error / size;
}

namespace {

/// One query row of one head: probabilities, dropout factors.
struct RowOf {
  std::vector<double> prob, factor;
  double lse;
};

struct Doubles {
  std::vector<double> q, k, v, dout, out;
  int64_t dim;
  double dot(const std::vector<double> &a, int64_t i,
             const std::vector<double> &b, int64_t j) const {
    double sum = 0;
    for (int64_t e = 0; e < dim; ++e)
      sum += a[size_t(i * dim + e)] * b[size_t(j * dim + e)];
    return sum;
  }
  void add(std::vector<double> &to, std::vector<double> &size, int64_t i,
           double x, const std::vector<double> &from, int64_t j) const {
    for (int64_t e = 0; e < dim; ++e) {
      double term = x * from[size_t(j * dim + e)];
      to[size_t(i * dim + e)] += term;
      size[size_t(i * dim + e)] += std::fabs(term);
    }
  }
};

RowOf rowOf(const Problem &p, const Doubles &x, int64_t b, int64_t h,
            int64_t i) {
  const MtcAttention &d = p.shape;
  int64_t kv = h / (d.heads / d.kv_heads), last = d.causal ? i : d.seq - 1;
  RowOf row;
  int64_t first = 0; // key that the row sees: of its document, or itself
  if (!p.documents.empty())
    first = std::clamp<int64_t>(p.documents[size_t(b * d.seq + i)], 0, i);
  for (int64_t j = 0; j < first; ++j)
    row.prob.push_back(-INFINITY);
  for (int64_t j = first; j <= last; ++j)
    row.prob.push_back(d.scale * x.dot(x.q, (b * d.seq + i) * d.heads + h, x.k,
                                       (b * d.seq + j) * d.kv_heads + kv));
  double top = *std::max_element(row.prob.begin(), row.prob.end()), sum = 0;
  for (double &s : row.prob)
    sum += s = std::exp(s - top);
  row.lse = top + std::log(sum);
  runtime::DropoutRule rule = runtime::dropoutRule(d.dropout);
  runtime::PhiloxAddress at{p.seed, uint64_t(p.sample + b), uint32_t(d.layer),
                            uint32_t(d.site)};
  for (int64_t j = 0; j <= last; ++j) {
    row.prob[size_t(j)] /= sum;
    uint64_t element = uint64_t(((p.head + h) * d.seq + i) * d.seq + j);
    bool keep = rule.keeps(runtime::philoxWord(at, element));
    row.factor.push_back(keep ? double(rule.scale) : 0.0);
  }
  return row;
}

void addRow(Reference &r, const MtcAttention &d, const Doubles &x,
            const RowOf &row, int64_t b, int64_t h, int64_t i) {
  int64_t kv = h / (d.heads / d.kv_heads);
  int64_t query = (b * d.seq + i) * d.heads + h;
  auto key = [&](int64_t j) { return (b * d.seq + j) * d.kv_heads + kv; };
  size_t n = row.prob.size();
  std::vector<double> dprob(n);
  double mean = 0;
  for (size_t j = 0; j < n; ++j) {
    double weight = row.prob[j] * row.factor[j];
    x.add(r.out, r.outSize, query, weight, x.v, key(int64_t(j)));
    x.add(r.dv, r.dvSize, key(int64_t(j)), weight, x.dout, query);
    dprob[j] = row.factor[j] * x.dot(x.dout, query, x.v, key(int64_t(j)));
    mean += row.prob[j] * dprob[j];
  }
  // The mean of dP under P is dO·O.
  if (isHalf(MtcDtype(d.dtype)))
    mean = x.dot(x.dout, query, x.out, query);
  for (size_t j = 0; j < n; ++j) {
    double ds = d.scale * row.prob[j] * (dprob[j] - mean);
    x.add(r.dq, r.dqSize, query, ds, x.k, key(int64_t(j)));
    x.add(r.dk, r.dkSize, key(int64_t(j)), ds, x.q, query);
  }
  r.lse[size_t((b * d.heads + h) * d.seq + i)] = row.lse;
}

} // namespace

Reference reference(const Problem &p) {
  const MtcAttention &d = p.shape;
  Doubles x{dense(p, &p.qkv[size_t(p.qAt)], d.heads, d.q_token_stride,
                  d.q_head_stride),
            dense(p, &p.qkv[size_t(p.kAt)], d.kv_heads, d.k_token_stride,
                  d.k_head_stride),
            dense(p, &p.qkv[size_t(p.vAt)], d.kv_heads, d.v_token_stride,
                  d.v_head_stride),
            dense(p, p.dout.data(), d.heads, d.o_token_stride, d.o_head_stride),
            dense(p, p.out.data(), d.heads, d.o_token_stride, d.o_head_stride),
            d.head_dim};
  Reference r;
  for (std::vector<double> *like : {&r.out, &r.dq, &r.outSize, &r.dqSize})
    like->resize(x.q.size());
  for (std::vector<double> *like : {&r.dk, &r.dv, &r.dkSize, &r.dvSize})
    like->resize(x.k.size());
  r.lse.resize(size_t(d.batch * d.heads * d.seq));
  for (int64_t b = 0; b < d.batch; ++b)
    for (int64_t h = 0; h < d.heads; ++h)
      for (int64_t i = 0; i < d.seq; ++i)
        addRow(r, d, x, rowOf(p, x, b, h, i), b, h, i);
  return r;
}

} // namespace mtc::test
