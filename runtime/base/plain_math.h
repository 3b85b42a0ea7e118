//===- plain_math.h - log and normal quantile without libm ------*- C++ -*-===//
//
// Only + - * / sqrt in double: every one is correctly rounded by IEEE 754, so
// the results are the same bits with any C library. Compile without
// contraction.
//
// The functions are always inlined: they are also used in objects built for one
// instruction set, which must not export a copy that others might call.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_BASE_PLAIN_MATH_H
#define MTC_RUNTIME_BASE_PLAIN_MATH_H

#include <cstdint>

namespace mtc::runtime {

/// Natural logarithm of a positive normal double, or of each lane of a vector
/// of them; `Word` has the 64 bits of each. x = 2^e·m with m in [sqrt(1/2),
/// sqrt(2)) exactly, and log m = 2·atanh(f), f = (m-1)/(m+1), |f| < 0.1716, by
/// its Taylor series to f^21 (the next term is below 3e-19 relative). Error: a
/// few units in the last place, absolute 2e-16 near 1.
template <typename Word, typename T>
[[gnu::always_inline]] inline T plainLogOfNormal(T x) {
  Word bits = __builtin_bit_cast(Word, x);
  // Adding the distance from sqrt(1/2) to 1 makes the exponent field round up
  // exactly for mantissas from sqrt(2) on.
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdull;
  Word shifted = bits + (0x3ff0000000000000ull - kSqrtHalf);
  // With the exponent of 2^52 in front an integer's bits are 2^52 more than it.
  Word field = shifted >> 52 | 0x4330000000000000ull;
  T e = __builtin_bit_cast(T, field) - (0x1p52 + 1023.0);
  Word fraction = (shifted & 0x000fffffffffffffull) + kSqrtHalf;
  T m = __builtin_bit_cast(T, fraction);
  T f = (m - 1.0) / (m + 1.0);
  T s = f * f;
  T sum = s * (1.0 / 21) + 1.0 / 19;
  for (int k = 17; k >= 3; k -= 2)
    sum = sum * s + 1.0 / k;
  // ln 2 in two parts: the first has 32 trailing zero bits, so e·hi is exact.
  constexpr double kLn2Hi = 0x1.62e42feep-1, kLn2Lo = 0x1.a39ef35793c76p-33;
  return e * kLn2Hi + (e * kLn2Lo + (2.0 * f * (s * sum) + 2.0 * f));
}

/// The same of one double; NaN and inf are returned as they are.
[[gnu::always_inline]] inline double plainLog(double x) {
  uint64_t bits = __builtin_bit_cast(uint64_t, x);
  if ((bits >> 52) == 0x7ff || x != x)
    return x;
  return plainLogOfNormal<uint64_t>(x);
}

/// p(x) by Horner's rule, coefficients from the constant upwards, at least two.
template <int N, typename T>
[[gnu::always_inline]] inline T plainPolynomial(const double (&c)[N], T x) {
  T sum = x * c[N - 1] + c[N - 2];
  for (int i = N - 3; i >= 0; --i)
    sum = sum * x + c[i];
  return sum;
}

/// The quantile of 1/2 + q for |q| <= 0.425, also of each lane of a vector, by
/// the rational approximations of M. J. Wichura, "Algorithm AS 241: the
/// percentage points of the normal distribution", Applied Statistics 37 (1988),
/// routine PPND16 (relative error about 1e-16).
template <typename T>
[[gnu::always_inline]] inline T plainCentralQuantile(T q) {
  constexpr double a[] = {3.3871328727963666080e0, 1.3314166789178437745e2,
                          1.9715909503065514427e3, 1.3731693765509461125e4,
                          4.5921953931549871457e4, 6.7265770927008700853e4,
                          3.3430575583588128105e4, 2.5090809287301226727e3};
  constexpr double b[] = {1.0,
                          4.2313330701600911252e1,
                          6.8718700749205790830e2,
                          5.3941960214247511077e3,
                          2.1213794301586595867e4,
                          3.9307895800092710610e4,
                          2.8729085735721942674e4,
                          5.2264952788528545610e3};
  T r = 0.180625 - q * q;
  return q * plainPolynomial(a, r) / plainPolynomial(b, r);
}

/// Less the quantile of a probability t < 1/2, given root = sqrt(-log t): of
/// the same algorithm. Its far tail (beyond exp(-25)) cannot be reached from 32
/// bits, so it is not here.
template <typename T>
[[gnu::always_inline]] inline T plainTailQuantile(T root) {
  constexpr double c[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                          5.76949722146069140550e0,  3.64784832476320460504e0,
                          1.27045825245236838258e0,  2.41780725177450611770e-1,
                          2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr double d[] = {1.0,
                          2.05319162663775882187e0,
                          1.67638483018380384940e0,
                          6.89767334985100004550e-1,
                          1.48103976427480074590e-1,
                          1.51986665636164571966e-2,
                          5.47593808499534494600e-4,
                          1.05075007164441684324e-9};
  T r = root - 1.6;
  return plainPolynomial(c, r) / plainPolynomial(d, r);
}

/// The standard normal deviate of a 32-bit word: the quantile of
/// (word + 1/2) / 2^32, which is exact in double and never 0, 1/2 or 1.
/// |result| < 6.4.
[[gnu::always_inline]] inline double plainNormal(uint32_t word) {
  double p = (double(word) + 0.5) * 0x1p-32;
  double q = p - 0.5;
  if (q <= 0.425 && q >= -0.425)
    return plainCentralQuantile(q);
  double tail = q < 0 ? p : 1.0 - p;
  double x = plainTailQuantile(__builtin_sqrt(-plainLog(tail)));
  return q < 0 ? -x : x;
}

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_PLAIN_MATH_H
