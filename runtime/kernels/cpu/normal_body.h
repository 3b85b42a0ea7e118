//===- normal_body.h - normal values of Philox words, vectorised *- C++ -*-===//
//
// Internal, per instruction set (see simd.h). Every lane does the arithmetic of
// plainNormal (plain_math.h), which divides and takes roots, in its order: the
// bits are the same. Both of its branches are computed, then one is chosen.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_NORMAL_BODY_H
#define MTC_RUNTIME_KERNELS_CPU_NORMAL_BODY_H

#include "runtime/base/plain_math.h"
#include "runtime/kernels/cpu/philox_body.h"
#include "runtime/kernels/cpu/simd.h"

namespace {

typedef uint32_t HalfWords __attribute__((vector_size(4 * kLanes), aligned(4)));

MTC_INLINE Doubles normalsOf(HalfWords words) {
  // With the exponent of 2^52 in front a word's bits are 2^52 more than it.
  Words bits = __builtin_convertvector(words, Words) | 0x4330000000000000ull;
  Doubles p = ((Doubles)bits - 0x1p52 + 0.5) * 0x1p-32;
  Doubles q = p - 0.5;
  Doubles tail = q < 0.0 ? p : 1.0 - p;
  Doubles root =
      squareRoot(-mtc::runtime::plainLogOfNormal<Words, Doubles>(tail));
  Doubles outer = mtc::runtime::plainTailQuantile(root);
  outer = q < 0.0 ? -outer : outer;
  return (q <= 0.425) & (q >= -0.425) ? mtc::runtime::plainCentralQuantile(q)
                                      : outer;
}

/// Words that one step makes.
constexpr int kStepWords = 4 * kBlocks;

MTC_INLINE void normalsOfWords(const uint32_t *words, double deviation,
                               float *out) {
  for (int i = 0; i < kStepWords; i += kLanes)
    *(Floats *)(out + i) = __builtin_convertvector(
        normalsOf(*(const HalfWords *)(words + i)) * deviation, Floats);
}

inline void normalRun(uint64_t seed, uint64_t id, double deviation,
                      uint64_t first, int64_t count, float *out) {
  RowStream stream{seed, id, 0};
  uint64_t end = first + uint64_t(count);
  uint32_t words[kStepWords];
  for (uint64_t at = first / 4 * 4; at < end; at += kStepWords) {
    philoxBlocks(words, stream, at / 4);
    if (at >= first && at + kStepWords <= end) {
      normalsOfWords(words, deviation, out + (at - first));
      continue;
    }
    float made[kStepWords];
    normalsOfWords(words, deviation, made);
    for (uint64_t i = 0; i < kStepWords; ++i)
      if (at + i >= first && at + i < end)
        out[at + i - first] = made[i];
  }
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_NORMAL_BODY_H
