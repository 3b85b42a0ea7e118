//===- dots.cuh - rows of dout times rows of out ----------------*- C++ -*-===//
//
// The sum over j of P·dP of a row, which is the sum over e of dout·out (Dao et
// al. 2022, appendix B.2).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_ATTENTION_DOTS_CUH
#define MTC_RUNTIME_CUDA_ATTENTION_DOTS_CUH

#include "runtime/cuda/attention/heads.cuh"

namespace mtc::cuda {

/// Of the two elements in a word of each.
template <Element E>
MTC_DEVICE float addDot(float sum, uint32_t a, uint32_t b) {
  sum = __fmaf_rn(widen<E>(a & 0xffff), widen<E>(b & 0xffff), sum);
  return __fmaf_rn(widen<E>(a >> 16), widen<E>(b >> 16), sum);
}

template <Element E, int D> MTC_DEVICE void dots(const AttentionParams &p) {
  constexpr AttentionTiles kTiles = attentionTiles(AttentionKernel::dots, D);
  constexpr int kLanes = kRowLanes<D>;
  int head = int(blockIdx.y), chunk = int(threadIdx.x) % kLanes;
  int first = int(blockIdx.x) * kTiles.rows() + int(threadIdx.x) / kLanes;
  auto out = likeOut(p, p.out, head);
  auto dout = likeOut(p, p.dout, head);
#pragma unroll
  for (int r = 0; r < kTiles.rows(); r += kTiles.threads() / kLanes) {
    int row = first + r;
    float sum = 0;
#pragma unroll
    for (int c = 0; c < D / 8; c += kLanes)
      if (row < p.seq && chunk + c < out.chunks) {
        int64_t at = row * out.stride + 8 * (chunk + c);
        uint4 a = *reinterpret_cast<const uint4 *>(dout.p + at);
        uint4 b = *reinterpret_cast<const uint4 *>(out.p + at);
        sum = addDot<E>(sum, a.x, b.x);
        sum = addDot<E>(sum, a.y, b.y);
        sum = addDot<E>(sum, a.z, b.z);
        sum = addDot<E>(sum, a.w, b.w);
      }
#pragma unroll
    for (int other = 1; other < kLanes; other *= 2)
      sum += __shfl_xor_sync(~0u, sum, other);
    if (chunk == 0 && row < p.seq)
      p.dots[rowOffset(p, head) + row] = sum;
  }
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_ATTENTION_DOTS_CUH
