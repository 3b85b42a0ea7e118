//===- conversion.h - any number to any type --------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_CONVERSION_H
#define MTC_TEST_CUDA_PTX_MACHINE_CONVERSION_H

#include "test/cuda/ptx/machine/rounding.h"
#include "test/cuda/ptx/syntax/types.h"

#include <cstdint>

namespace mtc::ptx {

/// What a cvt does, but for its operands.
struct Conversion {
  Type to = Type::b32, from = Type::b32;
  /// Of the result; with `integral` of a float to a whole number first.
  Rounding rounding = Rounding::nearest;
  bool integral = false;
  bool flush = false;    ///< .ftz
  bool saturate = false; ///< .sat
  bool finite = false;   ///< .satfinite
  bool relu = false;
};

/// The bits of a value of `from` as those of `to`; upper bits of both are zero,
/// but that a signed integer is extended to 64.
uint64_t convert(const Conversion &how, uint64_t bits);

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MACHINE_CONVERSION_H
