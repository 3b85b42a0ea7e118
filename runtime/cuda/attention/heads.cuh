//===- heads.cuh - where heads are in device memory -------------*- C++ -*-===//
#ifndef MTC_RUNTIME_CUDA_ATTENTION_HEADS_CUH
#define MTC_RUNTIME_CUDA_ATTENTION_HEADS_CUH

#include "attention_params.h"
#include "tiles.cuh"

namespace mtc::cuda {

// Elements before a head of the block's sample.
MTC_DEVICE int64_t queryOffset(const AttentionParams &p, int head) {
  return int64_t(blockIdx.z) * p.seq * p.qToken + head * p.qHead;
}
MTC_DEVICE int64_t keyOffset(const AttentionParams &p, int head) {
  return int64_t(blockIdx.z) * p.keys * p.kToken + head * p.kHead;
}
MTC_DEVICE int64_t valueOffset(const AttentionParams &p, int head) {
  return int64_t(blockIdx.z) * p.keys * p.vToken + head * p.vHead;
}
MTC_DEVICE int64_t outOffset(const AttentionParams &p, int head) {
  return int64_t(blockIdx.z) * p.seq * p.oToken + head * p.oHead;
}
/// Of lse and dots.
MTC_DEVICE int64_t rowOffset(const AttentionParams &p, int head) {
  return (int64_t(blockIdx.z) * p.heads + head) * p.seq;
}

MTC_DEVICE const uint16_t *elements(const void *p) {
  return static_cast<const uint16_t *>(p);
}
MTC_DEVICE HeadRows queryRows(const AttentionParams &p, int head) {
  return {elements(p.q) + queryOffset(p, head), p.qToken, p.seq};
}
MTC_DEVICE HeadRows keyRows(const AttentionParams &p, int head) {
  return {elements(p.k) + keyOffset(p, head), p.kToken, p.keys};
}
MTC_DEVICE HeadRows valueRows(const AttentionParams &p, int head) {
  return {elements(p.v) + valueOffset(p, head), p.vToken, p.keys};
}
MTC_DEVICE HeadRows outRows(const AttentionParams &p, const void *x, int head) {
  return {elements(x) + outOffset(p, head), p.oToken, p.seq};
}

extern __shared__ __align__(128) unsigned char attentionShared[];

MTC_DEVICE uint32_t sharedBase() {
  return uint32_t(__cvta_generic_to_shared(attentionShared));
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_ATTENTION_HEADS_CUH
