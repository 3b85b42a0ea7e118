//===- floats.h - numbers of the device as C++ types ------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_FLOATS_H
#define MTC_TEST_CUDA_PTX_MACHINE_FLOATS_H

#include "test/cuda/ptx/machine/lanes.h"

#include "runtime/base/bf16.h"
#include "runtime/base/f16.h"

#include <cmath>

namespace mtc::ptx {

/// Told from each other by templates.
struct F16 {
  uint16_t bits;
};
struct Bf16 {
  uint16_t bits;
};
/// Numbers whose subnormals are zeros when they are read.
struct FlushedFloat {
  float value;
};
struct FlushedF16 {
  uint16_t bits;
};

inline float widened(F16 value) { return runtime::widenF16(value.bits); }
inline float widened(Bf16 value) { return runtime::widenBf16(value.bits); }
inline float widened(float value) { return value; }
inline double widened(double value) { return value; }

/// A subnormal becomes a zero of its sign.
inline float flushed(float value) {
  uint32_t bits = __builtin_bit_cast(uint32_t, value);
  return __builtin_bit_cast(float,
                            bits & 0x7f800000 ? bits : bits & 0x80000000);
}
inline F16 flushed(F16 value) {
  return value.bits & 0x7c00 ? value : F16{uint16_t(value.bits & 0x8000)};
}

// What a comparison is made of.
template <class T> T comparable(T value) { return value; }
inline float comparable(F16 value) { return widened(value); }
inline float comparable(Bf16 value) { return widened(value); }
inline float comparable(FlushedFloat value) { return flushed(value.value); }
inline float comparable(FlushedF16 value) {
  return widened(flushed(F16{value.bits}));
}

/// The one NaN that arithmetic of f32 makes.
constexpr uint32_t kNan32 = 0x7fffffff;

inline float canonical(float value) {
  return value != value ? __builtin_bit_cast(float, kNan32) : value;
}
/// Of f64 a NaN of the operands stays one.
inline double canonical(double value) { return value; }

inline double quiet(double nan) {
  return __builtin_bit_cast(double, __builtin_bit_cast(uint64_t, nan) |
                                        uint64_t(1) << 51);
}
/// The first NaN of some operands, made quiet; without one what was made.
inline double firstNan(double made) { return made; }
template <class... T> double firstNan(double made, double first, T... rest) {
  return first != first ? quiet(first) : firstNan(made, rest...);
}

/// Between 0 and 1; a NaN is 0.
template <class T> T saturated(T value) {
  return value > T(0) ? (value < T(1) ? value : T(1)) : T(0);
}

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MACHINE_FLOATS_H
