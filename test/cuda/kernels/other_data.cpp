//===- other_data.cpp - the same case on other data -----------------------===//
#include "other_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

using namespace mtc::test;

namespace {

/// In [1, 2), with 23 random bits.
float fraction(std::mt19937 &rng) {
  return 1 + static_cast<float>(rng() >> 9) * 0x1p-23f;
}

int between(std::mt19937 &rng, int low, int high) {
  return low + static_cast<int>(rng() % static_cast<unsigned>(high - low + 1));
}

float ofMagnitude(std::mt19937 &rng, int low, int high) {
  float x = std::ldexp(fraction(rng), between(rng, low, high));
  return rng() % 2 ? x : -x;
}

float special(std::mt19937 &rng) {
  using Limits = std::numeric_limits<float>;
  const float all[] = {0.0f,
                       -0.0f,
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::quiet_NaN(),
                       1.0f,
                       -1.0f,
                       Limits::max(),
                       Limits::denorm_min(),
                       -Limits::min()};
  // Sums of rows are to be more than NaN.
  return rng() % 24 ? ofMagnitude(rng, -3, 3) : all[rng() % std::size(all)];
}

class OtherData {
public:
  OtherData(DataKind kind, std::mt19937 &rng)
      : kind(kind), rng(rng), shift(between(rng, -4, 4)),
        rows(1 << between(rng, 0, 4)) {
    for (float &x : values)
      x = ofMagnitude(rng, -2, 1);
  }

  void change(CaseOperand &o) {
    shuffle(o);
    values[0] = rng() % 2 ? values[0] : -values[0];
    for (uint64_t i = 0; i < o.count; ++i) {
      double old = valueAt(o.element, o.before, i);
      if (o.element == "i32")
        setInteger(o, i);
      else if (!std::isnan(old))
        setFloat(o, i, next(static_cast<float>(old)));
    }
    o.expected.clear(), o.tolerance.clear();
  }

private:
  void shuffle(CaseOperand &o) {
    uint64_t width = widthOf(o.element);
    for (uint64_t i = o.count; i > 1; --i) {
      uint64_t other = rng() % i;
      std::swap_ranges(o.before.begin() + (i - 1) * width,
                       o.before.begin() + i * width,
                       o.before.begin() + other * width);
    }
  }

  float next(float old) {
    switch (kind) {
    case DataKind::permuted:
      return std::ldexp(rng() % 4 ? old : -old, shift);
    case DataKind::precise:
      return ofMagnitude(rng, -2, 1);
    case DataKind::wide:
      return ofMagnitude(rng, -24, 24);
    case DataKind::huge:
      return ofMagnitude(rng, -149, 127);
    case DataKind::tiny:
      return ofMagnitude(rng, -40, -3);
    case DataKind::few:
      return values[rng() % std::size(values)];
    case DataKind::large:
      return ofMagnitude(rng, 0, 6);
    case DataKind::special:
      return special(rng);
    case DataKind::zeros:
      return rng() % 64 ? std::copysign(0.0f, values[0]) : special(rng);
    }
    return old;
  }

  void setFloat(CaseOperand &o, uint64_t i, float x) {
    uint8_t *at = o.before.data() + i * widthOf(o.element);
    auto half = static_cast<_Float16>(x);
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    bits >>= o.element == "bf16" ? 16 : 0;
    if (o.element == "f16")
      std::memcpy(at, &half, 2);
    else
      std::memcpy(at, &bits, widthOf(o.element));
  }

  /// Rows of tables: those that are there, those beside them, and far ones.
  void setInteger(CaseOperand &o, uint64_t i) {
    static const int32_t far[] = {std::numeric_limits<int32_t>::min(),
                                  std::numeric_limits<int32_t>::max(),
                                  -1,
                                  1 << 16,
                                  -(1 << 16),
                                  1 << 30};
    if (kind == DataKind::permuted)
      return;
    int32_t x =
        rng() % 16 ? between(rng, -1, rows) : far[rng() % std::size(far)];
    std::memcpy(o.before.data() + 4 * i, &x, 4);
  }

  DataKind kind;
  std::mt19937 &rng;
  int shift, rows; ///< about how many a table has
  float values[3];
};

} // namespace

KernelCase mtc::test::withOtherData(KernelCase c, DataKind kind,
                                    std::mt19937 &rng) {
  OtherData data(kind, rng);
  for (CaseOperand &o : c.operands)
    data.change(o);
  c.bare = kind != DataKind::permuted && rng() % 4 == 0;
  // The last argument behind those in memory is a number of columns.
  for (uint64_t i = 0; i < c.fields && kind != DataKind::permuted; ++i)
    c.args[i] = static_cast<int64_t>(uint64_t(rng()) << 32 | rng()) >>
                (rng() % 2 ? 0 : 48);
  return c;
}
