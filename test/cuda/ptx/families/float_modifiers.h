//===- float_modifiers.h - .rn.ftz.sat --------------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_FAMILIES_FLOAT_MODIFIERS_H
#define MTC_TEST_CUDA_PTX_FAMILIES_FLOAT_MODIFIERS_H

#include "test/cuda/ptx/decode/builder.h"
#include "test/cuda/ptx/machine/rounding.h"

namespace mtc::ptx {

struct FloatModifiers {
  Rounding rounding = Rounding::nearest;
  bool flush = false;
  bool saturate = false;
};

/// Without one, and none needed: to nearest, which ptxas may contract.
FloatModifiers takeRounding(Builder &b, bool mustRound);
void takeFlush(Builder &b, FloatModifiers &how);
/// f64 has no .ftz and no .sat.
void checkModifiers(Builder &b, const FloatModifiers &how, Type type);

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_FAMILIES_FLOAT_MODIFIERS_H
