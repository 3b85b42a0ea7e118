// The attention kernels of one element type, MTC_ELEMENT, and heads of up to 64
// elements, by the warpgroups of sm_90a: entries are called as those of
// attention.cu.
#include "runtime/cuda/attention/dots.cuh"
#include "runtime/cuda/attention/wgmma/backward_keys.cuh"
#include "runtime/cuda/attention/wgmma/backward_queries.cuh"
#include "runtime/cuda/attention/wgmma/forward.cuh"

#define MTC_JOIN(kind, element) mtc_attention_##kind##_##element##_d64_sm_90a
#define MTC_NAME(kind, element) MTC_JOIN(kind, element)
#define MTC_ENTRY(kind, function, tiles, element)                              \
  extern "C" __global__ void __launch_bounds__(mtc::cuda::tiles.threads(),     \
                                               mtc::cuda::tiles.blocks)        \
      MTC_NAME(kind, element)(                                                 \
          const __grid_constant__ mtc::cuda::AttentionParams p) {              \
    mtc::cuda::function<mtc::cuda::Element::element, 64>(p);                   \
  }

MTC_ENTRY(forward, forwardByGroups,
          groupTiles(mtc::cuda::AttentionKernel::forward), MTC_ELEMENT)
MTC_ENTRY(dots, dots, attentionTiles(mtc::cuda::AttentionKernel::dots, 64),
          MTC_ELEMENT)
MTC_ENTRY(queries, queriesByGroups,
          groupTiles(mtc::cuda::AttentionKernel::queries), MTC_ELEMENT)
MTC_ENTRY(keys, keysByGroups, groupTiles(mtc::cuda::AttentionKernel::keys),
          MTC_ELEMENT)
