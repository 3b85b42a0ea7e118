//===- elements.h - values of a matrix in its type --------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_BLAS_ELEMENTS_H
#define MTC_TEST_CUDA_BLAS_ELEMENTS_H

#include "runtime/base/bf16.h"
#include "runtime/base/f16.h"
#include "test/cuda/blas/problem.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace mtc::standin::blas {

inline float loadElement(int32_t type, const std::byte *at) {
  if (type == CUDA_R_32F) {
    float value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return type == CUDA_R_16F ? runtime::widenF16(bits)
                            : runtime::widenBf16(bits);
}

/// To nearest, ties to even. NaN is 7fffffff or 7fff, as an H100 makes it.
inline void storeElement(int32_t type, std::byte *at, float value) {
  if (type == CUDA_R_32F) {
    uint32_t bits =
        std::isnan(value) ? 0x7fffffff : std::bit_cast<uint32_t>(value);
    std::memcpy(at, &bits, sizeof bits);
    return;
  }
  uint16_t bits = std::isnan(value)    ? 0x7fff
                  : type == CUDA_R_16F ? runtime::roundToF16(value)
                                       : runtime::roundToBf16(value);
  std::memcpy(at, &bits, sizeof bits);
}

inline float roundTo(int32_t type, float value) {
  std::byte bytes[sizeof(float)];
  storeElement(type, bytes, value);
  return loadElement(type, bytes);
}

/// 10 bits behind the point, ties away from zero, as cvt.rna.tf32 does.
inline float roundToTf32(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7f800000) != 0x7f800000)
    bits += 0x1000;
  return std::bit_cast<float>(bits & ~uint32_t(0x1fff));
}

} // namespace mtc::standin::blas
#endif // MTC_TEST_CUDA_BLAS_ELEMENTS_H
