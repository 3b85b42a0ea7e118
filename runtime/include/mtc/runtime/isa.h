//===- isa.h - instruction sets of plans and processors ---------*- C++ -*-===//
#ifndef MTC_RUNTIME_ISA_H
#define MTC_RUNTIME_ISA_H

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#if __has_include(<sys/platform/x86.h>)
#ifdef __clang__
#define _Bool bool // the header is C, and only GCC takes that word in C++
#include <sys/platform/x86.h>
#undef _Bool
#else
#include <sys/platform/x86.h>
#endif
#endif

namespace mtc::runtime {

/// What a plan may be for, best first: AVX-512 with products in bf16
/// (AVX-512-BF16), AVX-512 (psABI level 4), AVX2 and FMA (level 3).
inline constexpr std::string_view kIsas[] = {"x86-64-v4-bf16", "x86-64-v4",
                                             "x86-64-v3"};

/// For messages: "x86-64-v4-bf16, x86-64-v4 or x86-64-v3".
inline std::string isaNames() {
  std::string names;
  for (size_t i = 0; i < std::size(kIsas); ++i)
    names.append(i == 0                     ? ""
                 : i + 1 < std::size(kIsas) ? ", "
                                            : " or ")
        .append(kIsas[i]);
  return names;
}

inline bool isKnownIsa(std::string_view isa) {
  return std::find(std::begin(kIsas), std::end(kIsas), isa) != std::end(kIsas);
}

/// Whether this processor has the level 3 of the psABI, and the C library was
/// not told to hide a part of it (GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2): users
/// do that on processors whose wide units are slow. Without such a library,
/// what the processor has.
inline bool processorHasLevel3() {
#ifdef CPU_FEATURE_ACTIVE
  return CPU_FEATURE_ACTIVE(AVX2) && CPU_FEATURE_ACTIVE(FMA) &&
         CPU_FEATURE_ACTIVE(BMI1) && CPU_FEATURE_ACTIVE(BMI2) &&
         CPU_FEATURE_ACTIVE(F16C) && CPU_FEATURE_ACTIVE(LZCNT) &&
         CPU_FEATURE_ACTIVE(MOVBE);
#else
  return __builtin_cpu_supports("x86-64-v3");
#endif
}

/// Level 4, likewise.
inline bool processorHasLevel4() {
#ifdef CPU_FEATURE_ACTIVE
  return processorHasLevel3() && CPU_FEATURE_ACTIVE(AVX512F) &&
         CPU_FEATURE_ACTIVE(AVX512BW) && CPU_FEATURE_ACTIVE(AVX512CD) &&
         CPU_FEATURE_ACTIVE(AVX512DQ) && CPU_FEATURE_ACTIVE(AVX512VL);
#else
  return __builtin_cpu_supports("x86-64-v4");
#endif
}

/// Products of bf16 in AVX-512.
inline bool processorHasBf16() {
#ifdef CPU_FEATURE_ACTIVE
  return CPU_FEATURE_ACTIVE(AVX512_BF16);
#else
  return __builtin_cpu_supports("avx512bf16");
#endif
}

/// AVX-512 that adds products of integers of 52 bits, which no plan asks for:
/// the runtime's kernels use it where it is.
inline bool processorHasIfma() {
#ifdef CPU_FEATURE_ACTIVE
  return CPU_FEATURE_ACTIVE(AVX512_IFMA);
#else
  return __builtin_cpu_supports("avx512ifma");
#endif
}

/// Whether this processor has the instructions of `isa`, and may use them;
/// false for an unknown name.
inline bool processorHas(std::string_view isa) {
  if (isa == "x86-64-v4-bf16")
    return processorHasLevel4() && processorHasBf16();
  return isa == "x86-64-v4"   ? processorHasLevel4()
         : isa == "x86-64-v3" ? processorHasLevel3()
                              : false;
}

} // namespace mtc::runtime
#endif // MTC_RUNTIME_ISA_H
