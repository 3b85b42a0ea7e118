//===- tensor_core.cpp - sums of products as sm_90 makes them -------------===//
#include "test/cuda/ptx/machine/tensor_core.h"

#include "test/cuda/ptx/machine/rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mtc::ptx {
namespace {

/// Bits that a term keeps behind the largest exponent.
constexpr int kBits = 25;
constexpr int kNoTerm = std::numeric_limits<int>::min();

/// significand · 2^shift, cut off towards zero.
int64_t aligned(int64_t significand, int shift) {
  if (shift >= 0)
    return significand << shift;
  if (shift < -62)
    return 0;
  int64_t size = std::abs(significand) >> -shift;
  return significand < 0 ? -size : size;
}

double sumOfSpecials(const Scaled *a, const Scaled *b, int stride, int depth,
                     const Scaled &c) {
  double sum = c.special ? c.value : 0;
  for (int k = 0; k < depth; ++k)
    if (a[k].special || b[k * stride].special)
      sum += a[k].value * b[k * stride].value;
  return sum;
}

} // namespace

Scaled scaled(double value, TermFormat format) {
  Scaled s;
  s.value = value;
  s.special = !std::isfinite(value);
  s.exponent = format.leastExponent;
  if (s.special || value == 0)
    return s;
  s.exponent = std::max(s.exponent, std::ilogb(value));
  s.significand =
      static_cast<int64_t>(std::ldexp(value, format.fraction - s.exponent));
  return s;
}

double sumOfProducts(const Scaled *a, const Scaled *b, int stride, int depth,
                     TermFormat format, const Scaled &c, TermFormat ofC) {
  int largest = c.significand ? c.exponent : kNoTerm;
  bool special = c.special;
  for (int k = 0; k < depth; ++k) {
    const Scaled &x = a[k], &y = b[k * stride];
    special |= x.special || y.special;
    if (x.significand && y.significand)
      largest = std::max(largest, x.exponent + y.exponent);
  }
  if (special)
    return sumOfSpecials(a, b, stride, depth, c);
  if (largest == kNoTerm)
    return 0;
  int64_t sum = 0;
  if (c.significand)
    sum = aligned(c.significand, c.exponent - ofC.fraction - largest + kBits);
  for (int k = 0; k < depth; ++k) {
    const Scaled &x = a[k], &y = b[k * stride];
    if (x.significand && y.significand)
      sum += aligned(x.significand * y.significand, x.exponent + y.exponent -
                                                        2 * format.fraction -
                                                        largest + kBits);
  }
  return std::ldexp(static_cast<double>(sum), largest - kBits);
}

float cutOff(double sum) {
  if (std::isnan(sum))
    return __builtin_bit_cast(float, 0x7fffffffu);
  if (std::fabs(sum) >= 0x1p128)
    return sum < 0 ? -std::numeric_limits<float>::infinity()
                   : std::numeric_limits<float>::infinity();
  float made = __builtin_bit_cast(float, toFormat(sum, kF32, Rounding::zero));
  return made == 0 ? 0 : made;
}

} // namespace mtc::ptx
