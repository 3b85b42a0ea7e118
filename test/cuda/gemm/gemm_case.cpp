//===- gemm_case.cpp - a product in double precision ----------------------===//
#include "gemm_case.h"

#include "runtime/base/half.h"

#include <cmath>
#include <cstring>
#include <random>
#include <sstream>

namespace mtc::test {

namespace {

const char *nameOf(MtcDtype dtype) {
  return dtype == MTC_F32 ? "f32" : dtype == MTC_BF16 ? "bf16" : "f16";
}

/// Half the spacing of values at 1.
double roundoff(MtcDtype dtype) {
  return dtype == MTC_F32 ? 0x1p-24 : dtype == MTC_BF16 ? 0x1p-8 : 0x1p-11;
}

/// The nearest value of the type; the doubles here are exact in fp32, or what
/// they are is not expected to the bit.
double rounded(MtcDtype dtype, double value) {
  float x = float(value);
  return dtype == MTC_F32
             ? x
             : runtime::widenHalf(dtype, runtime::roundToHalf(dtype, x));
}

/// Integers up to `most`, or normal values.
Stored made(MtcDtype dtype, int rows, int columns, const GemmCase &c,
            unsigned seed, unsigned most = 8) {
  int stride = (columns + c.gap + c.unit - 1) / c.unit * c.unit;
  Stored m{dtype, rows, columns, stride, {}};
  if (rows == 0 || columns == 0)
    return m;
  m.bytes.resize(m.at(rows - 1, columns - 1) + m.width(), std::byte(0xff));
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (int r = 0; r < rows; ++r)
    for (int e = 0; e < columns; ++e)
      m.set(r, e,
            c.fill == Fill::integers ? double(random() % (2 * most + 1)) - most
                                     : normal(random));
  return m;
}

/// How far fp32 sums over k may be from the sum, per unit of the sum of sizes.
/// Of f32 it is an FMA each, rounded to nearest. Of others 16 products and the
/// sum so far are one instruction, as docs/h100.md has it: each of 17 terms
/// loses less than 2^-25 of the largest, the sum 2^-23 of itself.
double sumRoundoff(const GemmCase &c) {
  if (c.ab == MTC_F32)
    return 1.001 * c.k * 0x1p-24;
  return 1.001 * ((c.k + 15) / 16) * (17 * 0x1p-25 + 0x1p-23);
}

} // namespace

std::string GemmCase::name() const {
  std::ostringstream text;
  text << nameOf(ab) << " into " << nameOf(c) << " " << (ta ? "t" : "n")
       << (tb ? "t" : "n") << (beta ? " + c, " : ", ") << m << " x " << n
       << " x " << k << ", gap " << gap << ", unit " << unit << ", skipped "
       << skipped << (fill == Fill::normal ? ", normal" : "")
       << (bias ? ", bias" : "") << (gelu ? ", gelu" : "")
       << (aux ? ", aux" : "");
  return text.str();
}

double Stored::get(int row, int column) const {
  uint16_t half = 0;
  float value = 0;
  if (dtype == MTC_F32) {
    std::memcpy(&value, bytes.data() + at(row, column), 4);
    return value;
  }
  std::memcpy(&half, bytes.data() + at(row, column), 2);
  return runtime::widenHalf(dtype, half);
}

void Stored::set(int row, int column, double value) {
  auto x = float(value);
  uint16_t half = dtype == MTC_F32 ? 0 : runtime::roundToHalf(dtype, x);
  if (dtype == MTC_F32)
    std::memcpy(bytes.data() + at(row, column), &x, 4);
  else
    std::memcpy(bytes.data() + at(row, column), &half, 2);
}

GemmData::GemmData(const GemmCase &g)
    : a(made(g.ab, g.ta ? g.k : g.m, g.ta ? g.m : g.k, g, 1)),
      b(made(g.ab, g.tb ? g.n : g.k, g.tb ? g.k : g.n, g, 2)),
      // As many bits as bf16 has.
      c(made(g.c, g.m, g.n, g, 3, 255)), bias(made(g.c, 1, g.n, g, 4, 255)) {}

namespace {

/// A value and how far it may be off, before it is stored.
struct Near {
  double value, bound;
};

Near sumOf(const GemmCase &c, const GemmData &data, int i, int j) {
  double sum = 0, sizes = 0;
  for (int e = 0; e < c.k; ++e) {
    double x = c.ta ? data.a.get(e, i) : data.a.get(i, e);
    double y = c.tb ? data.b.get(j, e) : data.b.get(e, j);
    sum += x * y;
    sizes += std::fabs(x * y);
  }
  Near near{sum, sumRoundoff(c) * sizes};
  if (c.beta || c.bias) {
    near.value += c.beta ? data.c.get(i, j) : data.bias.get(0, j);
    near.bound += roundoff(MTC_F32) * (std::fabs(near.value) + near.bound);
  }
  if (c.fill == Fill::integers)
    near.bound = 0;
  return near;
}

/// The tanh form. Of u = 2 sqrt(2/pi)(x + 0.044715 x^3) three roundings count,
/// of the logistic function four units in its last place, of the product one;
/// where the function is less than 1.3e-38 it may be 0. The slope of GELU is
/// below 1.13.
Near geluOf(Near x) {
  const double eps = 2 * roundoff(MTC_F32);
  double u = 2 * std::sqrt(2 / std::acos(-1.0)) *
             (x.value + 0.044715 * x.value * x.value * x.value);
  double logistic = 1 / (1 + std::exp(-u));
  double value = x.value * logistic;
  return {value, 1.13 * x.bound + 5 * eps * std::fabs(value) +
                     2 * eps * std::fabs(value * u) * (1 - logistic) +
                     1.3e-38 * std::fabs(x.value)};
}

void store(const GemmCase &c, Near x, GemmExpected &out) {
  if (x.bound == 0) {
    out.value.push_back(rounded(c.c, x.value));
    out.bound.push_back(0);
    return;
  }
  double round = c.c == MTC_F32 ? 0 : roundoff(c.c);
  out.value.push_back(x.value);
  out.bound.push_back(x.bound + round * (std::fabs(x.value) + x.bound) +
                      (c.c == MTC_F16 ? 0x1p-25 : 0)); // half a subnormal
}

} // namespace

GemmResults reference(const GemmCase &c, const GemmData &data) {
  GemmResults all;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      Near sum = sumOf(c, data, i, j);
      store(c, c.gelu ? geluOf(sum) : sum, all.c);
      if (c.aux)
        store(c, sum, all.aux);
    }
  return all;
}

} // namespace mtc::test
