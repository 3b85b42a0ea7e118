//===- gpu_texts.h - names of the PTX that calls need -----------*- C++ -*-===//
//
// The compiler takes these texts along in a program, the runtime loads them
// (runtime/cuda).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_GPU_TEXTS_H
#define MTC_RUNTIME_GPU_TEXTS_H

#include "mtc/runtime/abi.h"
#include "mtc/runtime/gpu_attention.h"

#include <cassert>
#include <string>
#include <string_view>

namespace mtc::cuda {

/// Of every program: the step's counters, the norm, and clearing.
inline constexpr std::string_view kNormText = "norm";

/// As names of kernels have a type: "f32", "bf16", "f16".
constexpr std::string_view gpuElement(int64_t dtype) {
  return dtype == MTC_F32 ? "f32" : dtype == MTC_BF16 ? "bf16" : "f16";
}

/// Of our own products of a type: "gemm_bf16".
inline std::string gemmText(int64_t dtype) {
  return "gemm_" + std::string(gpuElement(dtype));
}

/// What tells the kernels of a call of attention, on `chip`, from others:
/// "bf16_d64_sm_90a". There must be kernels for it (attentionHeadSize).
inline std::string attentionInstance(const MtcAttention &call,
                                     std::string_view chip) {
  const int size =
      attentionHeadSize(call.dtype == MTC_F16, static_cast<int>(call.head_dim));
  assert(size && "the compiler has asked attentionHeadSize");
  std::string name =
      std::string(gpuElement(call.dtype)) + "_d" + std::to_string(size);
  if (hasGroupAttention(chip, call.dtype == MTC_F32, size))
    name += "_" + std::string(chip);
  return name;
}

inline std::string attentionText(const MtcAttention &call,
                                 std::string_view chip) {
  return "attention_" + attentionInstance(call, chip);
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_GPU_TEXTS_H
