//===- finish.cuh - what the sum of squares says ----------------*- C++ -*-===//
//
// The arithmetic of normValue and clipCoefficient (runtime/kernels/cpu/norm.h),
// to the bit: the sum is rounded to double once, and nothing is contracted.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_NORM_FINISH_CUH
#define MTC_RUNTIME_CUDA_NORM_FINISH_CUH

#include "mtc/runtime/update_rule.h"
#include "mtc/runtime/update_state.h"
#include "runtime/cuda/norm/exact_sum.cuh"

#include <math_constants.h>

namespace mtc::cuda {

/// The words of limbs that may be sums over ranks, with their carries. False:
/// the sum is not finite.
MTC_DEVICE bool settle(const int64_t *norm, Word (&words)[kWords]) {
  using Wide = unsigned __int128;
  Wide carry = 0;
#pragma unroll
  for (int limb = 0; limb < MTC_NORM_LIMBS; ++limb) {
    Wide sum =
        (Wide(Word(norm[2 * limb + 1])) << 64 | Word(norm[2 * limb])) + carry;
    words[limb] = Word(sum);
    carry = sum >> 64;
  }
  Word high = words[kWords - 1] = Word(carry);
  return high < kNotFiniteHigh ||
         (high == kNotFiniteHigh && words[kWords - 2] != ~Word(0));
}

/// 2^e of a normal double.
MTC_DEVICE double power(int e) {
  return __longlong_as_double(int64_t(e + 1023) << 52);
}

/// The root of words in units of 2^-298.
MTC_DEVICE double rootOf(const Word (&words)[kWords]) {
  Word first = 0, second = 0; // the first word that is not zero, and the next
  bool more = false;          // below these
  int place = 0;              // of the first
#pragma unroll
  for (int i = kWords - 1; i >= 0; --i) {
    if (first == 0) {
      first = words[i];
      place = i;
    } else if (i == place - 1) {
      second = words[i];
    } else {
      more |= words[i] != 0;
    }
  }
  if (first == 0)
    return 0;
  // The leading 64 bits, of which double takes 53: what lies below them only
  // says whether there is more than half a unit.
  int by = __clzll(int64_t(first));
  Word leading = first << by | second >> 1 >> (63 - by);
  more |= second << by != 0;
  double rounded = __ull2double_rn(leading | more);
  return __dsqrt_rn(__dmul_rn(rounded, power(64 * place - by - 298)));
}

/// Writes grad_norm, clip_coeff and applies, and counts the step. By one
/// thread.
MTC_DEVICE void finish(MtcStepState *state) {
  MtcStepBlock &block = state->block;
  Word words[kWords];
  double value = settle(state->norm, words) ? rootOf(words) : CUDART_INF;
  double unscale = block.inv_loss_scale, threshold = block.clip_threshold;
  double norm = __dmul_rn(value, unscale);
  double ratio =
      threshold > 0 ? __ddiv_rn(threshold, __dadd_rn(norm, 1e-6)) : 1;
  block.grad_norm = norm;
  block.clip_coeff =
      __double2float_rn(__dmul_rn(ratio < 1 ? ratio : 1, unscale));
  StepEnd end = endOfStep(state->stopped != 0, block.follows,
                          state->order.scale_rule.scales, norm, threshold);
  if (end != StepEnd::stopped)
    countStep(state->order, end == StepEnd::applied, state->updates);
  block.applies = end == StepEnd::applied;
  state->skipped = end == StepEnd::skipped;
  state->stopped = end == StepEnd::stopped;
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_NORM_FINISH_CUH
