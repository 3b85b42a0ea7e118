//===- tensor_core.h - sums of products as sm_90 makes them -----*- C++ -*-===//
//
// The PTX ISA leaves open how mma.sync adds. An H100 makes, of each element of
// D, one sum of all products and of C: every term is aligned to the largest
// exponent and cut off 25 bits behind it, all are added exactly, and the sum is
// cut off to an f32 (test/golden/cuda/README.md, "Instructions", which has the
// data that this was found from and agrees with to the bit). Other
// architectures keep other numbers of bits.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_TENSOR_CORE_H
#define MTC_TEST_CUDA_PTX_MACHINE_TENSOR_CORE_H

#include <cstdint>

namespace mtc::ptx {

/// A number as significand · 2^(exponent - fraction bits of its format). The
/// exponent of a subnormal is the least of the format.
struct Scaled {
  int64_t significand = 0;
  int exponent = 0;
  /// An infinity or a NaN; then the rest has no meaning.
  bool special = false;
  double value = 0;
};

/// A format's bits of fraction and least exponent.
struct TermFormat {
  int fraction, leastExponent;
};
inline constexpr TermFormat kTermsF16{10, -14}, kTermsBf16{7, -126},
    kTermsTf32{10, -126}, kTermsF32{23, -126};

Scaled scaled(double value, TermFormat format);

/// The sum of a[k]·b[k·stride], k below `depth`, and of c, before it is
/// rounded: exact, as it has at most 40 bits; NaN or an infinity where a term
/// is. Terms of a and b have one format, `c` has its own.
double sumOfProducts(const Scaled *a, const Scaled *b, int stride, int depth,
                     TermFormat format, const Scaled &c, TermFormat ofC);

/// Towards zero, but what is too large is an infinity, and zero has no sign.
float cutOff(double sum);

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MACHINE_TENSOR_CORE_H
