// The GEMM kernels of one element type, MTC_ELEMENT: see gemm_params.h and
// make_ptx.sh.
#include "runtime/cuda/gemm/floats.cuh"
#include "runtime/cuda/gemm/halves.cuh"

namespace mtc::cuda {

template <Element E, bool TA, bool TB>
MTC_DEVICE void multiply(const GemmParams &p) {
  if constexpr (E == Element::f32)
    multiplyFloats<TA, TB>(p);
  else
    multiplyHalves<E, TA, TB>(p);
}

constexpr GemmTile tileOf(Element element) {
  return element == Element::f32 ? kFloatTile : kHalfTile;
}

} // namespace mtc::cuda

#define MTC_JOIN(element, layout) mtc_gemm_##element##_##layout
#define MTC_NAME(element, layout) MTC_JOIN(element, layout)
#define MTC_ENTRY(layout, ta, tb)                                              \
  extern "C" __global__ void __launch_bounds__(                                \
      mtc::cuda::tileOf(mtc::cuda::Element::MTC_ELEMENT).threads, 2)           \
      MTC_NAME(MTC_ELEMENT,                                                    \
               layout)(const __grid_constant__ mtc::cuda::GemmParams p) {      \
    mtc::cuda::multiply<mtc::cuda::Element::MTC_ELEMENT, ta, tb>(p);           \
  }

MTC_ENTRY(nn, false, false)
MTC_ENTRY(nt, false, true)
MTC_ENTRY(tn, true, false)
MTC_ENTRY(tt, true, true)
