//===- tensor_core.cpp - sums of products as sm_90 makes them -------------===//
#include "test/cuda/ptx/machine/tensor_core.h"

#include "test/cuda/ptx/machine/rounding.h"

#include <limits>

namespace mtc::ptx {

float cutOff(double sum) {
  if (std::isnan(sum))
    return __builtin_bit_cast(float, 0x7fffffffu);
  if (std::fabs(sum) >= 0x1p128)
    return sum < 0 ? -std::numeric_limits<float>::infinity()
                   : std::numeric_limits<float>::infinity();
  float made = __builtin_bit_cast(float, toFormat(sum, kF32, Rounding::zero));
  return made == 0 ? 0 : made;
}

} // namespace mtc::ptx
