//===- gpu_attention.h - what attention there is on a GPU -------*- C++ -*-===//
//
// Plain C++: the compiler asks it of plans, the runtime and CUDA's compiler of
// kernels (runtime/cuda/attention).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_GPU_ATTENTION_H
#define MTC_RUNTIME_GPU_ATTENTION_H

#include <string_view>

namespace mtc::cuda {

/// Whether programs have the kernels for a D, of fp16 or of bf16 and fp32:
/// those whose PTX is checked in.
constexpr bool hasAttention(bool fp16, int headSize) {
  switch (headSize) {
  case 32:
  case 96:
    return !fp16;
  case 64:
  case 128:
  case 256:
    return true;
  }
  return false;
}

/// The D of the kernels for heads of `headDim` elements: the least that there
/// is, as heads may have fewer; 0: none.
constexpr int attentionHeadSize(bool fp16, int headDim) {
  for (int size : {32, 64, 96, 128, 256})
    if (headDim <= size && hasAttention(fp16, size))
      return size;
  return 0;
}

/// Whether a program for `chip`, such as "sm_90a", has kernels by warpgroups
/// for a D, which only that chip runs: those whose PTX is checked in.
constexpr bool hasGroupAttention(std::string_view chip, bool fp32,
                                 int headSize) {
  return chip == "sm_90a" && !fp32 && headSize == 64;
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_GPU_ATTENTION_H
