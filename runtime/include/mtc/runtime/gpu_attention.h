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

/// The D of the kernels for heads of `headDim` elements, at most 256.
constexpr int attentionHeadSize(int headDim) {
  for (int size : {32, 64, 96, 128})
    if (headDim <= size)
      return size;
  return 256;
}

/// Whether programs have the kernels for a D, of fp16 or of bf16 and fp32:
/// those whose PTX is checked in.
constexpr bool hasAttention(bool fp16, int headSize) {
  return fp16 ? headSize == 64
              : headSize == 32 || headSize == 64 || headSize == 128;
}

/// Whether a program for `chip`, such as "sm_90a", has kernels by warpgroups
/// for a D, which only that chip runs: those whose PTX is checked in.
constexpr bool hasGroupAttention(std::string_view chip, bool fp32,
                                 int headSize) {
  return chip == "sm_90a" && !fp32 && headSize == 64;
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_GPU_ATTENTION_H
