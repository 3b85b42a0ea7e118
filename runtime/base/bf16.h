//===- bf16.h - bfloat16 and fp32 -------------------------------*- C++ -*-===//
//
// A bf16 is the upper half of an fp32, held in a uint16_t.
//
// The functions are always inlined: they are also used in objects built for one
// instruction set, which must not export a copy that others might call.
// AVX-512's own conversion is not used: it takes subnormals for zero, and bits
// would then depend on the instruction set.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_BASE_BF16_H
#define MTC_RUNTIME_BASE_BF16_H

#include <cstdint>

namespace mtc::runtime {

/// The fp32 of the same value; exact.
[[gnu::always_inline]] inline float widenBf16(uint16_t bits) {
  return __builtin_bit_cast(float, uint32_t(bits) << 16);
}

/// The nearest bf16, ties to even; what rounds beyond the largest one is an
/// infinity. A NaN stays one, made quiet, with the upper bits of its payload.
[[gnu::always_inline]] inline uint16_t roundToBf16(float value) {
  uint32_t bits = __builtin_bit_cast(uint32_t, value);
  uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);
  bool nan = (bits & 0x7fffffff) > 0x7f800000;
  return uint16_t((nan ? bits | 0x400000 : rounded) >> 16);
}

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_BF16_H
