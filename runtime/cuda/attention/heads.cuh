//===- heads.cuh - where heads are in device memory -------------*- C++ -*-===//
#ifndef MTC_RUNTIME_CUDA_ATTENTION_HEADS_CUH
#define MTC_RUNTIME_CUDA_ATTENTION_HEADS_CUH

#include "runtime/cuda/attention/attention_params.h"
#include "runtime/cuda/attention/tiles.cuh"

namespace mtc::cuda {

/// Of lse and dots.
MTC_DEVICE int64_t rowOffset(const AttentionParams &p, int head) {
  return (int64_t(blockIdx.z) * p.heads + head) * p.seq;
}

// Rows of a head of the block's sample: of x, laid out as q, k, v or out.
template <class T>
MTC_DEVICE HeadRows<T> headRows(T *x, int tokens, int head, int64_t tokenStride,
                                int64_t headStride, int headDim) {
  int64_t sample = int64_t(blockIdx.z) * tokens * tokenStride;
  return {x + sample + head * headStride, tokenStride, tokens, headDim / 8};
}
template <class T>
MTC_DEVICE HeadRows<T> likeQ(const AttentionParams &p, T *x, int head) {
  return headRows(x, p.seq, head, p.qToken, p.qHead, p.headDim);
}
template <class T>
MTC_DEVICE HeadRows<T> likeK(const AttentionParams &p, T *x, int head) {
  return headRows(x, p.keys, head, p.kToken, p.kHead, p.headDim);
}
template <class T>
MTC_DEVICE HeadRows<T> likeV(const AttentionParams &p, T *x, int head) {
  return headRows(x, p.keys, head, p.vToken, p.vHead, p.headDim);
}
template <class T>
MTC_DEVICE HeadRows<T> likeOut(const AttentionParams &p, T *x, int head) {
  return headRows(x, p.seq, head, p.oToken, p.oHead, p.headDim);
}

extern __shared__ __align__(128) unsigned char attentionShared[];

MTC_DEVICE uint32_t sharedBase() {
  return uint32_t(__cvta_generic_to_shared(attentionShared));
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_ATTENTION_HEADS_CUH
