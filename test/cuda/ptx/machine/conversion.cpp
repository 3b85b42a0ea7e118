//===- conversion.cpp - any number to any type ----------------------------===//
//
// Every float of a device is a double, exactly, and every integer an __int128.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/machine/conversion.h"

#include "test/cuda/ptx/machine/floats.h"

#include <algorithm>

namespace mtc::ptx {
namespace {

using Integer = __int128;

bool isFloat(Type type) { return classOf(type) == TypeClass::floating; }

double floatOf(Type type, uint64_t bits, bool flush) {
  switch (type) {
  case Type::f16:
    return widened(F16{uint16_t(bits)});
  case Type::bf16:
    return widened(Bf16{uint16_t(bits)});
  case Type::f64:
    return __builtin_bit_cast(double, bits);
  default:
    float value = __builtin_bit_cast(float, uint32_t(bits));
    return flush ? flushed(value) : value;
  }
}

Integer integerOf(Type type, uint64_t bits) {
  unsigned width = 8 * bytesOf(type);
  if (width < 64)
    bits &= (uint64_t(1) << width) - 1;
  if (!isSigned(type))
    return Integer(bits);
  return Integer(int64_t(bits << (64 - width)) >> (64 - width));
}

double wholeNumber(double value, Rounding how) {
  switch (how) {
  case Rounding::zero:
    return std::trunc(value);
  case Rounding::down:
    return std::floor(value);
  case Rounding::up:
    return std::ceil(value);
  default:
    return std::nearbyint(value);
  }
}

Integer lowestOf(Type type) {
  return isSigned(type) ? -(Integer(1) << (8 * bytesOf(type) - 1)) : 0;
}
Integer highestOf(Type type) {
  return (Integer(1) << (8 * bytesOf(type) - isSigned(type))) - 1;
}

uint64_t bitsOf(Type type, Integer value) {
  unsigned width = 8 * bytesOf(type);
  auto bits = uint64_t(value);
  if (width == 64)
    return bits;
  // Extended as a wider register has it.
  if (isSigned(type))
    return uint64_t(int64_t(bits << (64 - width)) >> (64 - width));
  return bits & ((uint64_t(1) << width) - 1);
}

/// Clamped to what the type has. A NaN is 0, of 64 bits the highest bit, as an
/// H100 has it.
uint64_t integerFrom(const Conversion &how, double value) {
  if (value != value)
    return bytesOf(how.to) == 8 || how.from == Type::f64
               ? bitsOf(how.to, Integer(1) << (8 * bytesOf(how.to) - 1))
               : 0;
  value = wholeNumber(value, how.rounding);
  Integer made = value >= 0x1p70    ? Integer(1) << 70
                 : value <= -0x1p70 ? -(Integer(1) << 70)
                                    : Integer(value);
  return bitsOf(how.to, std::clamp(made, lowestOf(how.to), highestOf(how.to)));
}

SmallFormat formatOf(Type type) {
  return type == Type::f16    ? kF16
         : type == Type::bf16 ? kBf16
         : type == Type::tf32 ? kTf32
                              : kF32;
}

/// Between f64 and others sign and upper bits of a NaN stay, with the quiet
/// one set; else a NaN is all ones. As an H100 has it.
uint64_t nanBits(const Conversion &how, double nan) {
  uint64_t bits = __builtin_bit_cast(uint64_t, nan) | uint64_t(1) << 51;
  if (how.to == Type::f64)
    return how.from == Type::f32 && how.flush ? 0x7fffffffe0000000 : bits;
  SmallFormat format = formatOf(how.to);
  uint32_t all = (1u << (format.exponent + format.fraction)) - 1;
  if (how.to == Type::tf32)
    return all << 13;
  if (how.from != Type::f64)
    return all;
  return uint32_t(bits >> 63) << (format.exponent + format.fraction) |
         (uint32_t(bits >> (52 - format.fraction)) & all) |
         ((all >> format.fraction) << format.fraction);
}

uint64_t floatBits(const Conversion &how, double value) {
  if (value != value && !how.saturate)
    return nanBits(how, value);
  if (how.saturate)
    value = saturated(value);
  if (how.relu && !(value > 0) && value == value)
    value = 0;
  if (how.to == Type::f64)
    return __builtin_bit_cast(uint64_t, value);
  uint32_t made = toFormat(value, formatOf(how.to), how.rounding, how.finite);
  if (how.relu && value == 0)
    made = 0;
  if (how.to == Type::tf32)
    made <<= 13; // it lies in the upper bits of an f32
  if (how.to == Type::f32 && how.flush)
    made =
        __builtin_bit_cast(uint32_t, flushed(__builtin_bit_cast(float, made)));
  return made;
}

/// Of .rna.satfinite it is one place less, as the infinity is.
uint64_t cutNan(const Conversion &how, uint32_t bits) {
  return (bits & 0xffffe000) - (how.finite ? 0x2000 : 0);
}

/// To a double that has all its bits, or, if they are too many, its last one
/// set: what is rounded from it is right.
double oddDouble(Integer value) {
  bool negative = value < 0;
  auto size = uint64_t(negative ? -value : value);
  int spare = size ? std::max(0, 64 - __builtin_clzll(size) - 53) : 0;
  uint64_t kept = size >> spare;
  if (spare && size & ((uint64_t(1) << spare) - 1))
    kept |= 1;
  double made = std::ldexp(double(kept), spare);
  return negative ? -made : made;
}

/// To f64 itself: rounded by hand.
double doubleFrom(Integer value, Rounding how) {
  bool negative = value < 0;
  auto size = uint64_t(negative ? -value : value);
  int spare = size ? std::max(0, 64 - __builtin_clzll(size) - 53) : 0;
  uint64_t kept = size >> spare, cut = size - (kept << spare);
  uint64_t half = spare ? uint64_t(1) << (spare - 1) : 1;
  bool up = how == Rounding::up     ? !negative && cut
            : how == Rounding::down ? negative && cut
            : how == Rounding::nearest
                ? cut > half || (cut == half && (kept & 1))
                : false;
  double made = std::ldexp(double(kept + (up && cut)), spare);
  return negative ? -made : made;
}

} // namespace

uint64_t convert(const Conversion &how, uint64_t bits) {
  if (isFloat(how.from)) {
    // From bf16 to f32 bits are moved, and .rna sees no NaN: it rounds or cuts.
    if (how.to == Type::f32 && how.from == Type::bf16 && !how.flush &&
        (bits & 0x7fff) > 0x7f80)
      return uint64_t(uint32_t(bits) << 16);
    if (how.rounding == Rounding::away && (bits & 0x7fffffff) > 0x7f800000)
      return cutNan(how, uint32_t(bits));
    bool flush = how.flush && how.to != Type::f16; // as an H100 has it
    double value = floatOf(how.from, bits, flush);
    if (!isFloat(how.to))
      return integerFrom(how, value);
    if (how.integral)
      value = wholeNumber(value, how.rounding);
    return floatBits(how, value);
  }
  Integer value = integerOf(how.from, bits);
  if (how.to == Type::f64) {
    double made = doubleFrom(value, how.rounding);
    return __builtin_bit_cast(uint64_t, how.saturate ? saturated(made) : made);
  }
  if (isFloat(how.to))
    return floatBits(how, oddDouble(value));
  if (how.saturate)
    value = std::clamp(value, lowestOf(how.to), highestOf(how.to));
  return bitsOf(how.to, value);
}

} // namespace mtc::ptx
