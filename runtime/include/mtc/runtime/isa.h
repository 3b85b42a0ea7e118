//===- isa.h - instruction sets of plans and processors ---------*- C++ -*-===//
#ifndef MTC_RUNTIME_ISA_H
#define MTC_RUNTIME_ISA_H

#include <algorithm>
#include <iterator>
#include <string_view>

#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#else
#define CPU_FEATURE_ACTIVE(name) true
#endif

namespace mtc::runtime {

/// What a plan may be for, best first: AVX-512 with products in bf16
/// (AVX-512-BF16), AVX-512 (psABI level 4), AVX2 and FMA (level 3).
inline constexpr std::string_view kIsas[] = {"x86-64-v4-bf16", "x86-64-v4",
                                             "x86-64-v3"};
/// The same names, for messages.
inline constexpr std::string_view kIsaNames =
    "x86-64-v4-bf16, x86-64-v4 or x86-64-v3";

inline bool isKnownIsa(std::string_view isa) {
  return std::find(std::begin(kIsas), std::end(kIsas), isa) != std::end(kIsas);
}

/// Whether this processor runs code for `isa`; false for an unknown name. What
/// the C library was told to hide (GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F) is
/// taken for absent.
inline bool processorHas(std::string_view isa) {
  bool v3 = __builtin_cpu_supports("x86-64-v3") && CPU_FEATURE_ACTIVE(AVX2);
  bool v4 =
      v3 && __builtin_cpu_supports("x86-64-v4") && CPU_FEATURE_ACTIVE(AVX512F);
  if (isa == "x86-64-v4-bf16")
    return v4 && __builtin_cpu_supports("avx512bf16");
  return isa == "x86-64-v4" ? v4 : isa == "x86-64-v3" && v3;
}

} // namespace mtc::runtime
#endif // MTC_RUNTIME_ISA_H
