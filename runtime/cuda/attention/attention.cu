// The attention kernels of one element type, MTC_ELEMENT, and one head size,
// MTC_HEAD_DIM: see attention_params.h and make_ptx.sh.
#include "runtime/cuda/attention/backward_keys.cuh"
#include "runtime/cuda/attention/backward_queries.cuh"
#include "runtime/cuda/attention/dots.cuh"
#include "runtime/cuda/attention/forward.cuh"

#define MTC_JOIN(kind, element, dim) mtc_attention_##kind##_##element##_d##dim
#define MTC_NAME(kind, element, dim) MTC_JOIN(kind, element, dim)
#define MTC_ENTRY(kind, element)                                               \
  extern "C" __global__ void __launch_bounds__(                                \
      mtc::cuda::attentionTiles(mtc::cuda::AttentionKernel::kind,              \
                                MTC_HEAD_DIM)                                  \
          .threads(),                                                          \
      mtc::cuda::attentionTiles(mtc::cuda::AttentionKernel::kind,              \
                                MTC_HEAD_DIM)                                  \
          .blocks)                                                             \
      MTC_NAME(kind, element, MTC_HEAD_DIM)(                                   \
          const __grid_constant__ mtc::cuda::AttentionParams p) {              \
    mtc::cuda::kind<mtc::cuda::Element::element, MTC_HEAD_DIM>(p);             \
  }

MTC_ENTRY(forward, MTC_ELEMENT)
MTC_ENTRY(dots, MTC_ELEMENT)
MTC_ENTRY(queries, MTC_ELEMENT)
MTC_ENTRY(keys, MTC_ELEMENT)
