//===- epilogue.cuh - what happens to a sum before it is rounded -*- C++
//-*-===//
#ifndef MTC_RUNTIME_CUDA_GEMM_EPILOGUE_CUH
#define MTC_RUNTIME_CUDA_GEMM_EPILOGUE_CUH

#include "runtime/cuda/attention/instructions.cuh"
#include "runtime/cuda/gemm/gemm_params.h"

namespace mtc::cuda {

/// 1 / b for 1 <= b <= 2^126: a guess by negating the exponent, and two steps.
MTC_DEVICE float reciprocal(float b) {
  float r = __uint_as_float(0x7ef311c3u - __float_as_uint(b));
  float e = __fmaf_rn(-b, r, 1.0f);
  r = __fmaf_rn(r, __fmaf_rn(e, e, e), r);
  return __fmaf_rn(__fmaf_rn(-b, r, 1.0f), r, r);
}

/// 1 / (1 + e^-x) in the very steps of generated kernels (emitLogistic of
/// passes/codegen/elementary.cpp), so that both have the same bits: the
/// division and exponential of the toolkit are approximations here.
MTC_DEVICE float logistic(float x) {
  float y = -x;
  bool isZero = y > 87.3f;
  y = isZero ? 87.3f : y;
  y = y < -87.3f ? -87.3f : y;
  float t = __fmaf_rn(y, 0x1.715476p+0f, 12582912.0f); // rounds to an integer
  float n = __fadd_rn(t, -12582912.0f);
  float r = __fmaf_rn(n, -0x1.62e4p-1f, y);
  r = __fmaf_rn(n, -0x1.7f7d1cp-20f, r);
  float q = 0x1.a19660p-13f;
  q = __fmaf_rn(q, r, 0x1.6d74e0p-10f);
  q = __fmaf_rn(q, r, 0x1.111098p-7f);
  q = __fmaf_rn(q, r, 0x1.5554aep-5f);
  q = __fmaf_rn(q, r, 0x1.555556p-3f);
  q = __fmaf_rn(q, r, 0.5f);
  float minus1 = __fmaf_rn(__fmul_rn(r, r), q, r);
  uint32_t power = __float_as_uint(t) - 0x4b400000u;
  float scale = __uint_as_float((power << 23) + 0x3f800000u);
  float sum = __fmaf_rn(scale, minus1, __fadd_rn(scale, 1.0f));
  return isZero ? 0.0f : reciprocal(sum);
}

/// x times the logistic function of 2 sqrt(2/pi)(x + 0.044715 x^3), as the body
/// of tfm.activation has it (passes/families/pointwise.cpp).
MTC_DEVICE float gelu(float x) {
  constexpr double kScale = 2 * 0.7978845608028654, kCubic = 0.044715;
  float u = __fmul_rn(
      x, __fmaf_rn(__fmul_rn(x, x), float(kCubic * kScale), float(kScale)));
  return __fmul_rn(x, logistic(u));
}

MTC_DEVICE bool hasEpilogue(const GemmParams &p) { return p.bias || p.gelu; }

template <Element E>
MTC_DEVICE float loadElement(const void *from, int64_t at, bool wide) {
  if constexpr (E != Element::f32)
    if (!wide)
      return widen<E>(static_cast<const uint16_t *>(from)[at]);
  return static_cast<const float *>(from)[at];
}

template <Element E>
MTC_DEVICE void storeElement(void *to, int64_t at, bool wide, float x) {
  if constexpr (E != Element::f32)
    if (!wide) {
      static_cast<uint16_t *>(to)[at] = uint16_t(pack<E>(x, 0));
      return;
    }
  static_cast<float *>(to)[at] = x;
}

/// What c gets of a sum; writes aux. `row` and `column` exist.
template <Element E>
MTC_DEVICE float finished(const GemmParams &p, int row, int column, float sum) {
  if (p.bias)
    sum = __fadd_rn(sum, loadElement<E>(p.bias, column, p.wide));
  if (p.aux)
    storeElement<E>(p.aux, row * p.ldaux + column, p.wide, sum);
  return p.gelu ? gelu(sum) : sum;
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_GEMM_EPILOGUE_CUH
