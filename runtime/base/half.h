//===- half.h - the float types of 16 bits ----------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_HALF_H
#define MTC_RUNTIME_BASE_HALF_H

#include "mtc/runtime/abi.h"
#include "runtime/base/bf16.h"
#include "runtime/base/f16.h"

namespace mtc::runtime {

/// An element in memory, so that templates tell the types from each other.
struct Bf16 {
  uint16_t bits;
};
struct F16 {
  uint16_t bits;
};

/// The same value in fp32, of bits of a type of 16 bits.
[[gnu::always_inline]] inline float widenHalf(MtcDtype dtype, uint16_t bits) {
  return dtype == MTC_F16 ? widenF16(bits) : widenBf16(bits);
}
/// Rounded once, to nearest even.
[[gnu::always_inline]] inline uint16_t roundToHalf(MtcDtype dtype,
                                                   float value) {
  return dtype == MTC_F16 ? roundToF16(value) : roundToBf16(value);
}

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_HALF_H
