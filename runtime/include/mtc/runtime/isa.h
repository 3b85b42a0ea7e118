//===- isa.h - instruction sets of plans and processors ---------*- C++ -*-===//
#ifndef MTC_RUNTIME_ISA_H
#define MTC_RUNTIME_ISA_H

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
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

/// False where the C library was told to hide AVX2, or with `wide` a part of
/// AVX-512 (GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F): users do that on
/// processors whose wide units are slow.
inline bool isAllowed([[maybe_unused]] bool wide) {
#ifdef CPU_FEATURE_ACTIVE
  return CPU_FEATURE_ACTIVE(AVX2) &&
         (!wide ||
          (CPU_FEATURE_ACTIVE(AVX512F) && CPU_FEATURE_ACTIVE(AVX512BW) &&
           CPU_FEATURE_ACTIVE(AVX512CD) && CPU_FEATURE_ACTIVE(AVX512DQ) &&
           CPU_FEATURE_ACTIVE(AVX512VL)));
#else
  return true;
#endif
}

/// Whether this processor has the instructions of `isa`, and may use them;
/// false for an unknown name.
inline bool processorHas(std::string_view isa) {
  bool v4 = __builtin_cpu_supports("x86-64-v4") && isAllowed(/*wide=*/true);
  if (isa == "x86-64-v4-bf16")
    return v4 && __builtin_cpu_supports("avx512bf16");
  if (isa == "x86-64-v4")
    return v4;
  return isa == "x86-64-v3" && __builtin_cpu_supports("x86-64-v3") &&
         isAllowed(/*wide=*/false);
}

} // namespace mtc::runtime
#endif // MTC_RUNTIME_ISA_H
