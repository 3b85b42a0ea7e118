//===- isa.h - instruction sets of plans and processors ---------*- C++ -*-===//
#ifndef MTC_RUNTIME_ISA_H
#define MTC_RUNTIME_ISA_H

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

#include <sys/syscall.h>
#include <unistd.h>

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

/// What a plan may be for, best first, each with all that those behind it have:
/// AVX-512 with products in bf16 by tiles (AMX), by vectors (AVX-512-BF16),
/// AVX-512 (psABI level 4), AVX2 and FMA (level 3).
inline constexpr std::string_view kIsas[] = {"x86-64-v4-amx", "x86-64-v4-bf16",
                                             "x86-64-v4", "x86-64-v3"};

/// For messages: "x86-64-v4-amx, x86-64-v4-bf16, x86-64-v4 or x86-64-v3".
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

/// Whether a plan for `isa` has the instructions of `level`; both are of kIsas.
inline bool isaIncludes(std::string_view isa, std::string_view level) {
  return std::find(std::begin(kIsas), std::end(kIsas), isa) <=
         std::find(std::begin(kIsas), std::end(kIsas), level);
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
/// the runtime's kernels use it where it and level 4 are, which may be hidden
/// without it.
inline bool processorHasIfma() {
#ifdef CPU_FEATURE_ACTIVE
  return processorHasLevel4() && CPU_FEATURE_ACTIVE(AVX512_IFMA);
#else
  return __builtin_cpu_supports("avx512ifma");
#endif
}

/// Products of bf16 by tiles, whether or not Linux lets this process use them.
inline bool processorHasTiles() {
#ifdef CPU_FEATURE_ACTIVE
  return CPU_FEATURE_ACTIVE(AMX_TILE) && CPU_FEATURE_ACTIVE(AMX_BF16);
#else
  return false;
#endif
}

/// Asks Linux for the registers of tiles (since 5.16; its documentation, "x86:
/// Extended state"), once: 0, or the number of its error. All threads may use
/// them then, and children until they become another program; alternate signal
/// stacks that are too small for them are refused from there on, and where a
/// thread has one the registers are.
inline int refusalOfTiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  static const int error =
      syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0 ? 0 : errno;
  return error;
}

inline bool processorHasAmx() {
  return processorHasTiles() && refusalOfTiles() == 0;
}

/// Whether this processor has the instructions of `isa`, and may use them;
/// false for an unknown name.
inline bool processorHas(std::string_view isa) {
  if (isa == "x86-64-v4-amx")
    return processorHasLevel4() && processorHasBf16() && processorHasAmx();
  if (isa == "x86-64-v4-bf16")
    return processorHasLevel4() && processorHasBf16();
  return isa == "x86-64-v4"   ? processorHasLevel4()
         : isa == "x86-64-v3" ? processorHasLevel3()
                              : false;
}

/// Why this machine has not the instructions of `isa`, behind its name.
inline std::string lackOf(std::string_view isa) {
  if (isa != "x86-64-v4-amx" || !processorHasTiles() || !refusalOfTiles())
    return "which this machine lacks";
  return std::string("whose tiles Linux refuses (") +
         std::strerror(refusalOfTiles()) +
         "): it has them from 5.16 on, for processes without alternate signal "
         "stacks that are too small for them";
}

} // namespace mtc::runtime
#endif // MTC_RUNTIME_ISA_H
