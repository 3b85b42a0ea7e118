// The kernels of the global norm, and mtc_zero: see norm_params.h.
#include "runtime/cuda/norm/begin.cuh"
#include "runtime/cuda/norm/finish.cuh"
#include "runtime/cuda/norm/limbs.cuh"
#include "runtime/cuda/norm/norm_params.h"
#include "runtime/cuda/norm/ranges.cuh"
#include "runtime/cuda/norm/zero.cuh"

using namespace mtc::cuda;

#define MTC_ENTRY                                                              \
  extern "C" __global__ void __launch_bounds__(mtc::cuda::kNormThreads)

MTC_ENTRY mtc_cuda_step_begin(MtcStepState *state) { begin(*state); }

MTC_ENTRY mtc_cuda_move_on(MtcStepState *state, int64_t samples,
                           int64_t repeats) {
  if (threadIdx.x != 0)
    return;
  state->block.sample_base += samples;
  state->repeats += repeats;
}

MTC_ENTRY mtc_cuda_take(const MtcStepState *state, uint32_t *to,
                        const uint32_t *from, int64_t bytes, int64_t stride) {
  take(to, from + state->repeats * stride / 4, bytes / 4);
}

MTC_ENTRY mtc_cuda_norm_reset(int64_t *norm) {
  if (threadIdx.x < 2 * MTC_NORM_LIMBS)
    norm[threadIdx.x] = 0;
}

MTC_ENTRY mtc_cuda_norm_accumulate_f32(int64_t *norm, const uint32_t *g,
                                       int64_t count) {
  accumulate<Element::f32>(norm, g, count);
}

MTC_ENTRY mtc_cuda_norm_accumulate_bf16(int64_t *norm, const uint16_t *g,
                                        int64_t count) {
  accumulate<Element::bf16>(norm, g, count);
}

MTC_ENTRY mtc_cuda_norm_accumulate_f16(int64_t *norm, const uint16_t *g,
                                       int64_t count) {
  accumulate<Element::f16>(norm, g, count);
}

MTC_ENTRY mtc_cuda_norm_check(int64_t *norm, const uint32_t *x, int64_t count) {
  check(norm, x, count);
}

MTC_ENTRY mtc_cuda_norm_to_limbs(const int64_t *norm, Word *limbs) {
  toLimbs(norm, limbs);
}

MTC_ENTRY mtc_cuda_norm_from_limbs(int64_t *norm, const Word *limbs) {
  if (threadIdx.x == 0)
    fromLimbs(norm, limbs);
}

MTC_ENTRY mtc_cuda_norm_finish(MtcStepState *state) {
  if (threadIdx.x == 0)
    finish(state);
}

MTC_ENTRY mtc_cuda_zero(uint8_t *p, int64_t bytes, const int32_t *asked) {
  if (!asked || *asked != 0)
    zero(p, bytes);
}
