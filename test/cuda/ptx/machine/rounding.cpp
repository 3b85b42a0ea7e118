//===- rounding.cpp - arithmetic with a given rounding --------------------===//
//
// Compiled with -frounding-math. Values are volatile or behind pointers that
// others have, too, so that no operation leaves the region between the two
// changes of the mode.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/machine/rounding.h"

#include <cfenv>
#include <cmath>

namespace mtc::ptx {
namespace {

int modeOf(Rounding how) {
  switch (how) {
  case Rounding::zero:
    return FE_TOWARDZERO;
  case Rounding::down:
    return FE_DOWNWARD;
  case Rounding::up:
    return FE_UPWARD;
  default:
    return FE_TONEAREST;
  }
}

template <class T> T plain(RoundedOp op, T a, T b, T c) {
  switch (op) {
  case RoundedOp::add:
    return a + b;
  case RoundedOp::sub:
    return a - b;
  case RoundedOp::mul:
    return a * b;
  case RoundedOp::fma:
    return std::fma(a, b, c);
  case RoundedOp::div:
    return a / b;
  case RoundedOp::sqrt:
    return std::sqrt(a);
  }
  return a;
}

template <class T> T inMode(RoundedOp op, Rounding how, T a, T b, T c) {
  volatile T left = a, right = b, last = c, made;
  std::fesetround(modeOf(how));
  made = plain<T>(op, left, right, last);
  std::fesetround(FE_TONEAREST);
  return made;
}

template <class T>
void allInMode(RoundedOp op, Rounding how, int count, const T *a, const T *b,
               const T *c, T *made) {
  std::fesetround(modeOf(how));
  for (int k = 0; k < count; ++k)
    made[k] = plain<T>(op, a[k], b[k], c[k]);
  std::fesetround(FE_TONEAREST);
}

/// Whether what is cut off makes the last place one larger.
bool roundsUp(Rounding how, bool negative, bool odd, uint64_t cut,
              uint64_t half) {
  switch (how) {
  case Rounding::nearest:
    return cut > half || (cut == half && odd);
  case Rounding::away:
    return cut >= half;
  case Rounding::down:
    return negative && cut;
  case Rounding::up:
    return !negative && cut;
  default:
    return false;
  }
}

} // namespace

float rounded(RoundedOp op, Rounding how, float a, float b, float c) {
  return inMode(op, how, a, b, c);
}

double rounded(RoundedOp op, Rounding how, double a, double b, double c) {
  return inMode(op, how, a, b, c);
}

void roundAll(RoundedOp op, Rounding how, int count, const float *a,
              const float *b, const float *c, float *made) {
  allInMode(op, how, count, a, b, c, made);
}

void roundAll(RoundedOp op, Rounding how, int count, const double *a,
              const double *b, const double *c, double *made) {
  allInMode(op, how, count, a, b, c, made);
}

uint32_t toFormat(double value, SmallFormat format, Rounding how,
                  bool saturate) {
  auto bits = __builtin_bit_cast(uint64_t, value);
  bool negative = bits >> 63;
  int width = 1 + format.exponent + format.fraction;
  uint32_t sign = negative ? 1u << (width - 1) : 0;
  uint32_t infinity = ((1u << format.exponent) - 1) << format.fraction;
  if (value != value)
    return (1u << (width - 1)) - 1;
  if (std::isinf(value))
    return sign | (saturate ? infinity - 1 : infinity);
  if (value == 0)
    return sign;
  // value = significand · 2^(exponent - 52); a double's subnormals are zeros
  // in every format here, but for the directed roundings.
  int exponent = int(bits >> 52 & 0x7ff);
  uint64_t significand = bits & 0xfffffffffffffull;
  if (exponent)
    significand |= uint64_t(1) << 52;
  exponent = (exponent ? exponent : 1) - 1023;
  int bias = (1 << (format.exponent - 1)) - 1;
  int drop = 52 - format.fraction;
  if (exponent < 1 - bias)
    drop += 1 - bias - exponent;
  uint64_t kept = drop > 63 ? 0 : significand >> drop;
  // Beyond 54 bits what is cut is below half a place, however much.
  uint64_t cut = drop > 54 ? (significand != 0)
                           : significand & ((uint64_t(1) << drop) - 1);
  uint64_t half = drop > 54 ? 2 : uint64_t(1) << (drop - 1);
  kept += roundsUp(how, negative, kept & 1, cut, half);
  // A carry out of the fraction goes into the exponent as it should.
  uint64_t made = exponent < 1 - bias ? kept
                                      : kept + (uint64_t(exponent + bias - 1)
                                                << format.fraction);
  if (made >= infinity) {
    bool inward = how == Rounding::zero ||
                  (how == Rounding::down && !negative) ||
                  (how == Rounding::up && negative);
    made = saturate || inward ? infinity - 1 : infinity;
  }
  return sign | uint32_t(made);
}

double oddAdd(double a, double b) {
  double sum = a + b;
  if (!std::isfinite(sum))
    return sum;
  // The error of the sum, exactly (Knuth's two-sum).
  double part = sum - a;
  double error = (a - (sum - part)) + (b - part);
  auto bits = __builtin_bit_cast(uint64_t, sum);
  if (error == 0 || bits & 1)
    return sum;
  // The exact value lies towards the error: one place further in is odd.
  bool grows = (error > 0) == (sum > 0);
  return __builtin_bit_cast(double, grows ? bits + 1 : bits - 1);
}

double oddFma(double a, double b, double c) { return oddAdd(a * b, c); }

} // namespace mtc::ptx
