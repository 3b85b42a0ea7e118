//===- device.cuh - what kernels of several folders share -------*- C++ -*-===//
#ifndef MTC_RUNTIME_CUDA_COMMON_DEVICE_CUH
#define MTC_RUNTIME_CUDA_COMMON_DEVICE_CUH

#include <cstdint>

#define MTC_DEVICE __device__ __forceinline__

namespace mtc::cuda {

enum class Element { bf16, f16, f32 };

/// One 16-bit value, widened.
template <Element E> MTC_DEVICE float widen(uint32_t bits) {
  if constexpr (E == Element::bf16)
    return __uint_as_float(bits << 16);
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(uint16_t(bits)));
  return x;
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_COMMON_DEVICE_CUH
