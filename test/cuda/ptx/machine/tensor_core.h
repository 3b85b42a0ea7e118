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
// In double all of it is exact: products have at most 22 bits, sums 34.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_TENSOR_CORE_H
#define MTC_TEST_CUDA_PTX_MACHINE_TENSOR_CORE_H

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace mtc::ptx {

/// Of a zero: below that of any number, also of a product.
constexpr int kNoExponent = -100000;

/// Of a number of a format, whose subnormals have the least one.
inline int exponentOf(double value, int least) {
  if (value == 0)
    return kNoExponent;
  auto bits = __builtin_bit_cast(uint64_t, value);
  return std::max(int(bits >> 52 & 0x7ff) - 1023, least);
}

/// Some elements of a row or column of one matrix, side by side so that
/// compilers make vectors of them.
constexpr int kSums = 8;
struct Terms {
  double values[kSums];
  int exponents[kSums];
};

/// sums[c] += the sum over k of a[k]·b[k][c], before it is rounded to its type:
/// finite numbers only. A sum of zero has no sign.
template <int Depth>
void addProducts(const double *a, const int *aExponents, const Terms *b,
                 Terms &sums) {
  auto power = [](int exponent) {
    return __builtin_bit_cast(double, uint64_t(exponent + 1023) << 52);
  };
  constexpr int kBits = 25, kLeast = -300; // where all terms are zeros
  int largest[kSums];
  double scale[kSums], cut[kSums];
  for (int c = 0; c < kSums; ++c)
    largest[c] = std::max(sums.exponents[c], kLeast);
  for (int k = 0; k < Depth; ++k)
    for (int c = 0; c < kSums; ++c)
      largest[c] = std::max(largest[c], aExponents[k] + b[k].exponents[c]);
  for (int c = 0; c < kSums; ++c) {
    scale[c] = power(kBits - largest[c]);
    cut[c] = std::trunc(sums.values[c] * scale[c]);
  }
  for (int k = 0; k < Depth; ++k)
    for (int c = 0; c < kSums; ++c)
      cut[c] += std::trunc(a[k] * b[k].values[c] * scale[c]);
  for (int c = 0; c < kSums; ++c)
    sums.values[c] = cut[c] * power(largest[c] - kBits) + 0.0;
}

/// Towards zero, but what is too large is an infinity, and zero has no sign.
float cutOff(double sum);

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MACHINE_TENSOR_CORE_H
