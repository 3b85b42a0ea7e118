#include "attention_case.h"

#include "runtime/base/philox.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace mtc::test {

double valueOf(bool half, uint16_t bits) {
  if (!half) {
    uint32_t wide = uint32_t(bits) << 16;
    float x = 0;
    std::memcpy(&x, &wide, 4);
    return x;
  }
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double x = exponent == 31  ? (fraction ? NAN : INFINITY)
             : exponent == 0 ? std::ldexp(fraction, -24)
                             : std::ldexp(fraction + 1024, exponent - 25);
  return bits >> 15 ? -x : x;
}

/// The nearest value; ties to even.
uint16_t bitsOf(bool half, double value) {
  int digits = half ? 10 : 7, bias = half ? 15 : 127, exponent = 0;
  if (value == 0)
    return 0;
  std::frexp(value, &exponent);
  // Of the spacing of values there; those of subnormals are the least.
  int unit = std::max(exponent - 1, 1 - bias) - digits;
  auto count = uint32_t(std::nearbyint(std::ldexp(std::fabs(value), -unit)));
  uint32_t bits = (uint32_t(unit + digits + bias - 1) << digits) + count;
  return uint16_t(bits | (value < 0 ? 0x8000u : 0));
}

double scaleOf(const AttentionCase &c) {
  return float(1 / std::sqrt(double(c.dim)));
}

AttentionData makeData(const AttentionCase &c) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  auto fill = [&](int tokens, int heads) {
    std::vector<uint16_t> x(size_t(c.batch) * tokens * heads * c.dim);
    for (uint16_t &e : x)
      e = bitsOf(c.half, normal(random));
    return x;
  };
  AttentionData data{fill(c.seq, c.heads),
                     fill(c.keys, c.kvHeads),
                     fill(c.keys, c.kvHeads),
                     fill(c.seq, c.heads),
                     {}};
  if (c.documents)
    for (int b = 0; b < c.batch; ++b)
      for (int i = 0; i < c.seq; ++i) {
        int length = 29 + 21 * b;
        data.documents.push_back(c.position(i) / length * length);
      }
  return data;
}

namespace {

/// One head of one sample: matrices of doubles.
struct Rows {
  std::vector<double> x;
  int dim;
  const double *operator[](int row) const { return &x[size_t(row) * dim]; }
};

Rows rowsOf(const AttentionCase &c, const std::vector<uint16_t> &bits, int b,
            int tokens, int heads, int head) {
  Rows rows{{}, c.dim};
  for (int t = 0; t < tokens; ++t)
    for (int e = 0; e < c.dim; ++e)
      rows.x.push_back(valueOf(
          c.half, bits[((size_t(b) * tokens + t) * heads + head) * c.dim + e]));
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

/// Bounds. `round` is the unit roundoff of an element, to which P, dS and
/// results are rounded, `tiny` half the spacing of its subnormals. All else is
/// fp32: a product of mma loses at most 2^-22 of the sum of sizes for each 16
/// of its terms, ex2 2^-22; together that is below `single` per unit of
/// exponent and of row.
class Reference {
public:
  Reference(const AttentionCase &c, const AttentionData &data)
      : c(c), data(data), round(c.half ? 0x1p-11 : 0x1p-8),
        tiny(c.half ? 0x1p-25 : 0) {
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
    // Results are rounded once more.
    for (Expected *e : {&all.out, &all.dq, &all.dk, &all.dv})
      for (size_t i = 0; i < e->value.size(); ++i)
        e->bound[i] += round * (std::fabs(e->value[i]) + e->bound[i]) + tiny;
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

  void addRow(int b, int h, int i, const double *q, const Rows &k,
              const Rows &v, const double *dout) {
    double scale = scaleOf(c), top = -INFINITY, size = 0, sum = 0;
    std::vector<double> p(c.keys);
    for (int j = 0; j < c.keys; ++j) {
      p[j] = sees(b, i, j) ? scale * dot(q, k[j], c.dim) : -INFINITY;
      top = std::max(top, p[j]);
      size = std::max(size, scale * dotOfSizes(q, k[j], c.dim));
    }
    for (double &x : p)
      sum += x = std::exp(x - top);
    for (double &x : p)
      x /= sum;
    double single = 0x1p-22 * (4 + size * (2 + c.dim / 16.0) + c.keys / 16.0);
    size_t row = (size_t(b) * c.heads + h) * c.seq + i;
    all.lse.value[row] = top + std::log(sum);
    all.lse.bound[row] = single + 0x1p-22 * std::fabs(all.lse.value[row]);

    size_t qRow = ((size_t(b) * c.seq + i) * c.heads + h) * c.dim;
    double dots = 0, dotsBound = 0;
    std::vector<double> factors;
    for (int j = 0; j < c.keys; ++j) {
      double m = p[j] > 0 ? factor(b, h, i, j) : 0;
      factors.push_back(m);
      double bound = m * (p[j] * (round + 2 * single) + tiny);
      for (int e = 0; e < c.dim && m != 0; ++e) {
        all.out.value[qRow + e] += m * p[j] * v[j][e];
        all.out.bound[qRow + e] += bound * std::fabs(v[j][e]);
      }
    }
    for (int e = 0; e < c.dim; ++e) {
      double x = all.out.value[qRow + e], bound = all.out.bound[qRow + e];
      dots += dout[e] * x;
      dotsBound +=
          std::fabs(dout[e]) * (bound + round * (std::fabs(x) + bound) + tiny);
    }
    for (int j = 0; j < c.keys; ++j)
      if (p[j] > 0)
        addGradients(b, h, j, qRow, q, k[j], v[j], dout, p[j], factors[j], dots,
                     dotsBound, single);
  }

  void addGradients(int b, int h, int j, size_t qRow, const double *q,
                    const double *k, const double *v, const double *dout,
                    double p, double m, double dots, double dotsBound,
                    double single) {
    double dp = m * dot(dout, v, c.dim);
    double ds = p * (dp - dots);
    double sizes = m * dotOfSizes(dout, v, c.dim) + std::fabs(dots);
    double dsBound = (round + 2 * single) * std::fabs(ds) + tiny +
                     p * (1 + round) * (dotsBound + 4 * single * sizes);
    size_t kRow =
        ((size_t(b) * c.keys + j) * c.kvHeads + h / c.group()) * c.dim;
    double scale = scaleOf(c);
    for (int e = 0; e < c.dim; ++e) {
      all.dq.value[qRow + e] += scale * ds * k[e];
      all.dq.bound[qRow + e] += scale * dsBound * std::fabs(k[e]);
      all.dk.value[kRow + e] += scale * ds * q[e];
      all.dk.bound[kRow + e] += scale * dsBound * std::fabs(q[e]);
      all.dv.value[kRow + e] += m * p * dout[e];
      all.dv.bound[kRow + e] +=
          m * (p * (round + 2 * single) + tiny) * std::fabs(dout[e]);
    }
  }

  const AttentionCase &c;
  const AttentionData &data;
  double round, tiny;
  AttentionResults all;
};

} // namespace

AttentionResults reference(const AttentionCase &c, const AttentionData &data) {
  return Reference(c, data).run();
}

std::vector<AttentionCase> attentionCases() {
  std::vector<AttentionCase> cases;
  auto add = [&](const char *name, int dim, int seq, int keys, bool causal) {
    AttentionCase c;
    c.name = name;
    c.dim = dim;
    c.seq = c.first = seq;
    c.keys = keys;
    c.causal = causal;
    cases.push_back(c);
    return &cases.back();
  };
  for (int dim : {32, 64, 96, 128, 256}) {
    add("one", dim, 1, 1, true);
    add("tail", dim, 77, 77, true);
    auto *full = add("full", dim, 52, 52, true);
    full->heads = 4;
    full->kvHeads = full->batch = 2;
    full->rate = 0.2;
    full->documents = true;
  }
  for (int dim : {8, 16, 80, 160})
    add("narrow", dim, 50, 50, true)->heads = 3;
  add("even", 64, 128, 128, false);
  add("all", 64, 70, 150, false);
  add("causal", 64, 200, 200, true)->fused = true;
  add("many", 128, 300, 300, true);
  auto *grouped = add("grouped", 64, 90, 90, true);
  grouped->heads = 6;
  grouped->kvHeads = 2;
  grouped->batch = 2;
  auto *dropped = add("dropped", 64, 64, 64, false);
  dropped->rate = 0.25;
  dropped->heads = 2;
  dropped = add("dropped_odd", 64, 77, 77, true);
  dropped->rate = 0.1;
  dropped->batch = 2;
  dropped = add("dropped_wide", 128, 45, 45, true);
  dropped->rate = 0.5;
  auto *pieces = add("pieces", 64, 80, 300, true);
  pieces->first = 40;
  pieces->begin = 40;
  pieces->begin2 = 110;
  pieces->rate = 0.1;
  auto *documents = add("documents", 64, 170, 170, true);
  documents->documents = true;
  documents->batch = 2;
  for (int dim : {32, 64, 96, 128, 256})
    add("half", dim, 100, 100, true)->half = true;
  return cases;
}

std::vector<AttentionCase> largeAttentionCases() {
  AttentionCase c;
  c.name = "large";
  c.seq = c.first = c.keys = 1000;
  c.causal = true;
  c.heads = 2;
  c.rate = 0.1;
  AttentionCase wide = c;
  wide.dim = 128;
  wide.heads = 1;
  wide.rate = 0;
  return {c, wide};
}

} // namespace mtc::test
