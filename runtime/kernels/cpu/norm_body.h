//===- norm_body.h - squares as digits of 52 bits, vectorised ---*- C++ -*-===//
//
// Internal, per instruction set (see simd.h). The square of a float is exact in
// double. Added to a magnet, a power of two so large that the last bit of the
// sum counts 2^p, it is rounded to a multiple of 2^p, its first digit; what is
// left of it is exact and gives the next digits in the same way, until nothing
// is left. Values within 2^27 of each other have two digits.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_NORM_BODY_H
#define MTC_RUNTIME_KERNELS_CPU_NORM_BODY_H

#include "runtime/kernels/cpu/kernel_table.h"
#include "runtime/kernels/cpu/simd.h"

namespace {

/// Of the magnitudes, as integers, so that NaN and inf are the largest.
MTC_INLINE int32_t largestBits(const float *g, int64_t count) {
  int32_t largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    int32_t bits = __builtin_bit_cast(int32_t, g[i]) & 0x7fffffff;
    largest = bits > largest ? bits : largest;
  }
  return largest;
}

/// 1.5·2^(p + 52), where the digit's unit 2^p is `position` units of the norm,
/// 2^-298. The half of it keeps sums with what is negative in the same binade.
MTC_INLINE double magnetAt(int position) {
  uint64_t exponent = uint64_t(position - 298 + 52 + 1023);
  return __builtin_bit_cast(double, exponent << 52 | uint64_t{1} << 51);
}

/// |x| <= 2^51 digits. Returns what is left, at most half a digit's unit. The
/// bits of sums of one binade are their digits from the magnet's on, and those
/// of its end, too.
MTC_INLINE Doubles peel(Doubles x, Doubles magnet, Words &digits) {
  Doubles rounded = x + magnet;
  digits += (Words)rounded;
  return x - (rounded - magnet);
}

/// Sums of at most kNormChunk digits of up to 2^51: the magnet's bits, which
/// each of them has, are taken off at the end, modulo 2^64.
MTC_INLINE void addTo(mtc::runtime::NormDigits *to, int position, Words digits,
                      int64_t vectors) {
  uint64_t sum = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    sum += digits[lane];
  sum -= uint64_t(vectors) * kLanes *
         __builtin_bit_cast(uint64_t, magnetAt(position));
  to->position[to->count] = position;
  to->digit[to->count++] = int64_t(sum);
}

MTC_INLINE bool isZero(Words words) {
  uint64_t all = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    all |= words[lane];
  return all == 0;
}

/// The first `count` values from g on, at most kLanes, then zeros.
MTC_INLINE Doubles someValues(const float *g, int64_t count) {
  if (count >= kLanes)
    return loadDoubles(g);
  Doubles some = {};
  for (int64_t lane = 0; lane < count; ++lane)
    some[lane] = double(g[lane]);
  return some;
}

/// Digits at two positions, in one go; whether they are all there is. Squares
/// are made within the additions that take them, which is exact as well.
MTC_INLINE bool twoDigits(const float *g, int64_t count, int first, int second,
                          mtc::runtime::NormDigits *out) {
  constexpr int64_t kAhead = mtc::runtime::kNormChunk;
  Doubles magnet = Doubles{} + magnetAt(first),
          nextMagnet = Doubles{} + magnetAt(second);
  Words digits = {}, nextDigits = {}, left = {};
  auto take = [&](Doubles x) {
    Doubles rounded = fma(x, x, magnet), taken = rounded - magnet;
    digits += (Words)rounded;
    Doubles rest = fma(x, x, -taken), nextRounded = rest + nextMagnet;
    nextDigits += (Words)nextRounded;
    left |= (Words)rest ^ (Words)(nextRounded - nextMagnet);
  };
  int64_t i = 0;
#pragma GCC unroll 4
  for (; i + kLanes <= count; i += kLanes) {
    // Of the chunk behind this one, which is read while this one is computed.
    _mm_prefetch((const char *)(g + i + kAhead), _MM_HINT_T0);
    take(loadDoubles(g + i));
  }
  if (i < count)
    take(someValues(g + i, count - i));
  int64_t vectors = (count + kLanes - 1) / kLanes;
  out->count = 0;
  addTo(out, first, digits, vectors);
  addTo(out, second, nextDigits, vectors);
  return isZero(left);
}

/// Writes what the first digits leave of the squares to `rest`; returns the
/// number of vectors.
MTC_INLINE int64_t firstDigits(const float *g, int64_t count, double magnet,
                               Doubles *rest, Words &digits) {
  Doubles all = Doubles{} + magnet;
  int64_t vectors = 0;
  for (int64_t i = 0; i < count; i += kLanes) {
    Doubles x = someValues(g + i, count - i);
    rest[vectors++] = peel(x * x, all, digits);
  }
  return vectors;
}

bool normChunk(const float *g, int64_t count, mtc::runtime::NormDigits *out) {
  int32_t largest = largestBits(g, count);
  if (largest >= 0x7f800000)
    return false;
  // |g| < 2^(e - 126), so its square is at most 2^51 at position 2e - 5; all
  // squares are multiples of the unit, which is position 0.
  int position = 2 * (largest >> 23) - 5;
  position = position > 0 ? position : 0;
  if (twoDigits(g, count, position, position > 52 ? position - 52 : 0, out))
    return true;
  Doubles rest[mtc::runtime::kNormChunk / kLanes];
  Words digits = {}, left;
  int64_t vectors = firstDigits(g, count, magnetAt(position), rest, digits);
  out->count = 0;
  addTo(out, position, digits, vectors);
  do {
    position = position > 52 ? position - 52 : 0;
    Doubles magnet = Doubles{} + magnetAt(position);
    digits = left = Words{};
    for (int64_t i = 0; i < vectors; ++i) {
      rest[i] = peel(rest[i], magnet, digits);
      left |= (Words)rest[i];
    }
    addTo(out, position, digits, vectors);
  } while (!isZero(left));
  return true;
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_NORM_BODY_H
