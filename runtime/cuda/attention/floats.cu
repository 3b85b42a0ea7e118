// The attention kernels of fp32 elements and one head size, MTC_HEAD_DIM: see
// attention_params.h and make_ptx.sh.
#include "runtime/cuda/attention/floats.cuh"

#define MTC_JOIN(kind, dim) mtc_attention_##kind##_f32_d##dim
#define MTC_NAME(kind, dim) MTC_JOIN(kind, dim)
#define MTC_ENTRY(kind, function)                                              \
  extern "C" __global__ void __launch_bounds__(mtc::cuda::kFloatThreads)       \
      MTC_NAME(kind, MTC_HEAD_DIM)(                                            \
          const __grid_constant__ mtc::cuda::AttentionParams p) {              \
    mtc::cuda::function<MTC_HEAD_DIM>(p);                                      \
  }

MTC_ENTRY(forward, floatForward)
MTC_ENTRY(dots, floatDots)
MTC_ENTRY(queries, floatQueries)
MTC_ENTRY(keys, floatKeys)
