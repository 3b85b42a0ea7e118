#include "attention_bounds.h"

#include "runtime/base/philox.h"

#include <algorithm>
#include <cmath>

namespace mtc::test {

namespace {

/// One head of one sample: matrices of doubles.
struct Rows {
  std::vector<double> x;
  int dim;
  const double *operator[](int row) const { return &x[size_t(row) * dim]; }
};

Rows rowsOf(const AttentionCase &c, const std::vector<uint32_t> &bits, int b,
            int tokens, int heads, int head) {
  Rows rows{{}, c.dim};
  for (int t = 0; t < tokens; ++t)
    for (int e = 0; e < c.dim; ++e)
      rows.x.push_back(
          valueOf(c.element,
                  bits[((size_t(b) * tokens + t) * heads + head) * c.dim + e]));
  return rows;
}

double dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += a[i] * b[i];
  return sum;
}
double dotOfSizes(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += std::fabs(a[i] * b[i]);
  return sum;
}

class Reference {
public:
  Reference(const AttentionCase &c, const AttentionData &data)
      : c(c), data(data), bounds(boundsOf(c)) {
    auto size = [&](Expected &e, int tokens, int heads, int dim) {
      e.value.assign(size_t(c.batch) * tokens * heads * dim, 0);
      e.bound = e.value;
    };
    size(all.out, c.seq, c.heads, c.dim);
    size(all.dq, c.seq, c.heads, c.dim);
    size(all.dk, c.keys, c.kvHeads, c.dim);
    size(all.dv, c.keys, c.kvHeads, c.dim);
    size(all.lse, c.seq, c.heads, 1);
  }

  AttentionResults run() {
    for (int b = 0; b < c.batch; ++b)
      for (int h = 0; h < c.heads; ++h)
        addHead(b, h);
    for (Expected *e : {&all.out, &all.dq, &all.dk, &all.dv})
      for (size_t i = 0; i < e->value.size(); ++i)
        e->bound[i] = bounds->stored(e->value[i], e->bound[i]);
    return std::move(all);
  }

private:
  void addHead(int b, int h) {
    Rows q = rowsOf(c, data.q, b, c.seq, c.heads, h);
    Rows k = rowsOf(c, data.k, b, c.keys, c.kvHeads, h / c.group());
    Rows v = rowsOf(c, data.v, b, c.keys, c.kvHeads, h / c.group());
    Rows dout = rowsOf(c, data.dout, b, c.seq, c.heads, h);
    for (int i = 0; i < c.seq; ++i)
      addRow(b, h, i, q[i], k, v, dout[i]);
  }

  bool sees(int b, int i, int j) const {
    int position = c.position(i);
    int start = c.documents ? data.documents[size_t(b) * c.seq + i] : 0;
    return j >= std::min(start, position) && (!c.causal || j <= position);
  }

  /// 0, or 1/(1 - rate).
  double factor(int b, int h, int i, int j) const {
    if (c.rate == 0)
      return 1;
    runtime::PhiloxAddress at{kSeed, kSample + uint64_t(b), kLayer, kSite};
    uint64_t element = (uint64_t(kFirstHead + h) * uint64_t(c.keys) +
                        uint64_t(c.position(i))) *
                           uint64_t(c.keys) +
                       uint64_t(j);
    auto limit = uint32_t(std::floor(c.rate * 4294967296.0));
    return runtime::philoxWord(at, element) >= limit ? 1 / (1 - c.rate) : 0;
  }

  ScoreRow scoresOf(int b, int h, int i, const double *q, const Rows &k) const {
    double scale = scaleOf(c), sum = 0;
    ScoreRow r{{}, {}, {}, {}, -INFINITY, 0};
    for (int j = 0; j < c.keys; ++j) {
      bool seen = sees(b, i, j);
      r.score.push_back(seen ? scale * dot(q, k[j], c.dim) : -INFINITY);
      r.size.push_back(scale * dotOfSizes(q, k[j], c.dim));
      r.factor.push_back(seen ? factor(b, h, i, j) : 0);
      r.top = std::max(r.top, r.score[j]);
    }
    for (double x : r.score)
      sum += std::exp(x - r.top);
    for (double x : r.score)
      r.p.push_back(std::exp(x - r.top) / sum);
    r.lse = r.top + std::log(sum);
    return r;
  }

  void addRow(int b, int h, int i, const double *q, const Rows &k,
              const Rows &v, const double *dout) {
    ScoreRow r = scoresOf(b, h, i, q, k);
    bounds->begin(r);
    size_t row = (size_t(b) * c.heads + h) * c.seq + i;
    all.lse.value[row] = r.lse;
    all.lse.bound[row] = bounds->lse();

    size_t qRow = ((size_t(b) * c.seq + i) * c.heads + h) * c.dim;
    for (int j = 0; j < c.keys; ++j)
      for (int e = 0; e < c.dim && r.factor[j] != 0; ++e) {
        all.out.value[qRow + e] += r.factor[j] * r.p[j] * v[j][e];
        all.out.bound[qRow + e] += bounds->weight(j) * std::fabs(v[j][e]);
      }
    ScoreGradient g{};
    for (int e = 0; e < c.dim; ++e) {
      double x = all.out.value[qRow + e], &bound = all.out.bound[qRow + e];
      bound += bounds->output() * std::fabs(x);
      g.dots += dout[e] * x;
      g.dotsSize += std::fabs(dout[e] * x);
      g.dotsBound += std::fabs(dout[e]) * bounds->stored(x, bound);
    }
    for (int j = 0; j < c.keys; ++j)
      if (r.p[j] > 0)
        addGradients(b, h, j, qRow, q, k[j], v[j], dout, r, g);
  }

  void addGradients(int b, int h, int j, size_t qRow, const double *q,
                    const double *k, const double *v, const double *dout,
                    const ScoreRow &r, ScoreGradient g) {
    double m = r.factor[j], p = r.p[j], scale = scaleOf(c);
    g.dp = m * dot(dout, v, c.dim);
    g.dpSize = m * dotOfSizes(dout, v, c.dim);
    g.ds = p * (g.dp - g.dots);
    double ds = bounds->gradient(j, g), weight = bounds->weightAgain(j);
    double alongKeys = bounds->sum(c.keys);
    double alongQueries = bounds->sum(c.group() * c.seq);
    size_t kRow =
        ((size_t(b) * c.keys + j) * c.kvHeads + h / c.group()) * c.dim;
    auto add = [](Expected &to, size_t at, double x, double y, double xBound,
                  double ofSum) {
      to.value[at] += x * y;
      to.bound[at] += (xBound + ofSum * std::fabs(x)) * std::fabs(y);
    };
    for (int e = 0; e < c.dim; ++e) {
      add(all.dq, qRow + e, scale * g.ds, k[e], scale * ds, alongKeys);
      add(all.dk, kRow + e, scale * g.ds, q[e], scale * ds, alongQueries);
      add(all.dv, kRow + e, m * p, dout[e], weight, alongQueries);
    }
  }

  const AttentionCase &c;
  const AttentionData &data;
  std::unique_ptr<Bounds> bounds;
  AttentionResults all;
};

} // namespace

AttentionResults reference(const AttentionCase &c, const AttentionData &data) {
  return Reference(c, data).run();
}

} // namespace mtc::test
