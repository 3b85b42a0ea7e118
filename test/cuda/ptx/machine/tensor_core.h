//===- tensor_core.h - sums of products as sm_90 makes them -----*- C++ -*-===//
//
// The PTX ISA leaves open how mma.sync adds. An H100 makes, of each element of
// D, one sum of all products and of C: every term is aligned to the largest
// exponent and cut off 25 bits behind it, all are added exactly, and the sum is
// cut off to an f32 (test/golden/cuda/README.md, "Instructions", which has the
// data that this was found from and agrees with to the bit). The exponent of a
// product is the sum of those of its factors. Other architectures keep other
// numbers of bits.
//
// In double all of it is exact: products have at most 22 bits, sums 34. Where
// exponents are no extreme ones it is done in f32, of eight sums at a time: a
// product has fewer bits than an f32, and so has what is left of it when it is
// cut off, an integer below 2^27.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_TENSOR_CORE_H
#define MTC_TEST_CUDA_PTX_MACHINE_TENSOR_CORE_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace mtc::ptx {

/// Of a zero: below that of any number, also of a product.
constexpr int kNoExponent = -100000;

/// Some elements of a row or column of one matrix side by side, as vectors of
/// the machine.
constexpr int kSums = 8;
using FloatSums [[gnu::vector_size(4 * kSums)]] = float;
using IntSums [[gnu::vector_size(4 * kSums)]] = int32_t;
struct Terms {
  FloatSums values;
  IntSums exponents;
};

/// Of numbers of a format, whose subnormals have the exponent `least`. False:
/// one of them is not finite.
inline bool setExponents(Terms &terms, int least) {
  auto bits = __builtin_bit_cast(IntSums, terms.values) & 0x7fffffff;
  IntSums made = (bits >> 23) - 127;
  made = made > least ? made : IntSums{} + least;
  terms.exponents = bits == 0 ? IntSums{} + kNoExponent : made;
  IntSums wrong = bits >= 0x7f800000;
  int any = 0;
  for (int c = 0; c < kSums; ++c)
    any |= wrong[c];
  return !any;
}

/// Elements of a row of one matrix, one after the other.
template <int Depth> struct Row {
  static constexpr int kParts = (Depth + kSums - 1) / kSums;
  Terms parts[kParts];

  /// Of unused elements: zeros.
  float *values(int part) {
    return reinterpret_cast<float *>(&parts[part].values);
  }
  float value(int k) const { return parts[k / kSums].values[k % kSums]; }
  int exponent(int k) const { return parts[k / kSums].exponents[k % kSums]; }
};

namespace tensor_core {

constexpr int kBits = 25, kLeast = -300; ///< where all terms are zeros

inline double power(int exponent) {
  return __builtin_bit_cast(double, uint64_t(exponent + 1023) << 52);
}

template <int Depth>
void setLargest(const Row<Depth> &a, const Terms *b, const Terms &c,
                IntSums &largest) {
  largest = c.exponents > kLeast ? c.exponents : IntSums{} + kLeast;
  for (int k = 0; k < Depth; ++k) {
    IntSums each = b[k].exponents + a.exponent(k);
    largest = largest > each ? largest : each;
  }
}

/// Of any exponents.
template <int Depth>
void addAnyProducts(const Row<Depth> &a, const Terms *b, const Terms &terms,
                    const IntSums &largest, double *made) {
  double scale[kSums];
  for (int c = 0; c < kSums; ++c) {
    scale[c] = power(kBits - largest[c]);
    made[c] = std::trunc(double(terms.values[c]) * scale[c]);
  }
  for (int k = 0; k < Depth; ++k)
    for (int c = 0; c < kSums; ++c)
      made[c] +=
          std::trunc(double(a.value(k)) * double(b[k].values[c]) * scale[c]);
  for (int c = 0; c < kSums; ++c)
    made[c] = made[c] * power(largest[c] - kBits) + 0.0;
}

} // namespace tensor_core

/// made[c] = terms[c] + the sum over k of a[k]·b[k][c], before it is rounded to
/// its type: finite numbers only. A sum of zero has no sign.
template <int Depth>
void addProducts(const Row<Depth> &a, const Terms *b, const Terms &terms,
                 double *made) {
  using namespace tensor_core;
  IntSums largest;
  setLargest(a, b, terms, largest);
  // Neither the product nor its scale leaves f32: what is too small for it is
  // cut off in any case. Where all are zeros any scale will do.
  constexpr int kExtreme = 90;
  largest = largest == kLeast ? IntSums{} : largest;
  IntSums extreme = (largest > kExtreme) | (largest < -kExtreme);
  int64_t any[kSums / 2];
  std::memcpy(any, &extreme, sizeof any);
  if (any[0] | any[1] | any[2] | any[3])
    return addAnyProducts(a, b, terms, largest, made);
  auto scale = __builtin_bit_cast(FloatSums, (kBits + 127 - largest) << 23);
  // Of eight terms below 2^27 each.
  constexpr int kPart = 8;
  double total[kSums];
  IntSums first = __builtin_convertvector(terms.values * scale, IntSums);
  for (int c = 0; c < kSums; ++c)
    total[c] = first[c];
  for (int begin = 0; begin < Depth; begin += kPart) {
    IntSums part{};
    for (int k = begin; k < std::min(begin + kPart, Depth); ++k)
      part +=
          __builtin_convertvector(a.value(k) * b[k].values * scale, IntSums);
    for (int c = 0; c < kSums; ++c)
      total[c] += part[c];
  }
  for (int c = 0; c < kSums; ++c)
    made[c] = total[c] * power(largest[c] - kBits) + 0.0;
}

/// The same without any cut, which shows which of infinity and NaN a sum with
/// one of them is: made[c] where it is finite stays.
template <int Depth>
void setNotFinite(const Row<Depth> &a, const Terms *b, const Terms &terms,
                  double *made) {
  for (int c = 0; c < kSums; ++c) {
    double plain = terms.values[c];
    for (int k = 0; k < Depth; ++k)
      plain += double(a.value(k)) * double(b[k].values[c]);
    if (!std::isfinite(plain))
      made[c] = plain;
  }
}

/// Towards zero, but what is too large is an infinity, and zero has no sign.
float cutOff(double sum);

/// The same of some side by side.
inline void cutOff(const double *sums, float *made) {
  bool usual = true;
  for (int c = 0; c < kSums; ++c) {
    double size = std::fabs(sums[c]);
    usual &= (size >= 0x1p-126 && size < 0x1p128) || size == 0;
  }
  for (int c = 0; c < kSums; ++c) {
    // The last 29 bits of a double are none of an f32.
    auto bits = __builtin_bit_cast(uint64_t, sums[c]) >> 29 << 29;
    made[c] = usual ? float(__builtin_bit_cast(double, bits)) + 0.0f
                    : cutOff(sums[c]);
  }
}

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MACHINE_TENSOR_CORE_H
