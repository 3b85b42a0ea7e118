//===- f16.h - half precision and fp32 --------------------------*- C++ -*-===//
//
// An f16 is IEEE 754's binary16, held in a uint16_t: 1 sign, 5 exponent and 10
// fraction bits. The largest finite one is 65504, the smallest normal one
// 2^-14, the smallest 2^-24.
//
// These functions give the bits of the instructions (F16C), without needing
// them, and have no branches. They are always inlined, as those of bf16.h are.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_BASE_F16_H
#define MTC_RUNTIME_BASE_F16_H

#include <cstdint>

namespace mtc::runtime {

/// The fp32 of the same value; exact. A NaN stays one, made quiet.
[[gnu::always_inline]] inline float widenF16(uint16_t bits) {
  // Read as the upper bits of an fp32 the exponent is too small by 127 - 15;
  // the product is exact, also of subnormals.
  uint32_t shifted = uint32_t(bits & 0x7fff) << 13;
  float scaled = __builtin_bit_cast(float, shifted) * 0x1p112f;
  uint32_t finite = __builtin_bit_cast(uint32_t, scaled);
  uint32_t quiet = shifted & 0x7fffff ? 0x400000 : 0;
  uint32_t other = 0x7f800000 | (shifted & 0x7fffff) | quiet;
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  bool isFinite = shifted < 0x0f800000;
  return __builtin_bit_cast(float, sign | (isFinite ? finite : other));
}

/// The nearest f16, ties to even; what rounds beyond the largest one is an
/// infinity. A NaN stays one, made quiet, with the upper bits of its payload.
[[gnu::always_inline]] inline uint16_t roundToF16(float value) {
  uint32_t bits = __builtin_bit_cast(uint32_t, value);
  uint32_t size = bits & 0x7fffffff;
  // Below 2^-14 the last place is 2^-24, that of 0.5 in fp32.
  float shifted = __builtin_bit_cast(float, size) + 0.5f;
  uint32_t small = __builtin_bit_cast(uint32_t, shifted) - 0x3f000000;
  uint32_t normal = (size + 0xfff + ((size >> 13) & 1) - (112u << 23)) >> 13;
  uint32_t nan = 0x7e00 | ((size >> 13) & 0x3ff);
  uint32_t rounded = size < 0x38800000    ? small
                     : size < 0x477ff000  ? normal
                     : size <= 0x7f800000 ? 0x7c00
                                          : nan;
  return uint16_t(rounded | (bits >> 16 & 0x8000));
}

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_F16_H
