//===- f16_body.h - ranges of f16 and fp32 ----------------------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_F16_BODY_H
#define MTC_RUNTIME_KERNELS_CPU_F16_BODY_H

#include "runtime/kernels/cpu/simd.h"

namespace {

void widenF16Range(const uint16_t *in, float *out, int64_t count) {
  auto *from = (const F16 *)in;
  int64_t i = 0;
  for (; i + kW <= count; i += kW)
    store(out + i, load(from + i));
  for (; i < count; ++i)
    out[i] = widen(from[i]);
}

void roundToF16Range(const float *in, uint16_t *out, int64_t count) {
  auto *to = (F16 *)out;
  int64_t i = 0;
  for (; i + kW <= count; i += kW)
    store(to + i, load(in + i));
  for (; i < count; ++i)
    narrow(in[i], to[i]);
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_F16_BODY_H
