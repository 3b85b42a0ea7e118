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
       << skipped << (fill == Fill::normal ? ", normal" : "");
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
      c(made(g.c, g.m, g.n, g, 3, 255)) {}

GemmExpected reference(const GemmCase &c, const GemmData &data) {
  GemmExpected all;
  double u = roundoff(MTC_F32), round = c.c == MTC_F32 ? 0 : roundoff(c.c);
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      double sum = 0, sizes = 0;
      for (int e = 0; e < c.k; ++e) {
        double x = c.ta ? data.a.get(e, i) : data.a.get(i, e);
        double y = c.tb ? data.b.get(j, e) : data.b.get(e, j);
        sum += x * y;
        sizes += std::fabs(x * y);
      }
      double bound = sumRoundoff(c) * sizes;
      if (c.beta) {
        sum += data.c.get(i, j);
        bound += u * (std::fabs(sum) + bound);
      }
      bound += round * (std::fabs(sum) + bound) +
               (c.c == MTC_F16 ? 0x1p-25 : 0); // half a subnormal's spacing
      bool exact = c.fill == Fill::integers;
      all.value.push_back(exact ? rounded(c.c, sum) : sum);
      all.bound.push_back(exact ? 0 : bound);
    }
  return all;
}

} // namespace mtc::test
