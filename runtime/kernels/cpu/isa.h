//===- isa.h - the instruction set of the called CPU kernels ----*- C++ -*-===//
#ifndef MTC_RUNTIME_KERNELS_CPU_ISA_H
#define MTC_RUNTIME_KERNELS_CPU_ISA_H

#include "mtc/runtime/isa.h"
#include "runtime/base/status.h"

#include <string_view>

namespace mtc::runtime {

/// Chooses the kernels of the plan's instruction set, "x86-64-v3" (AVX2, FMA),
/// "x86-64-v4" (AVX-512), "x86-64-v4-bf16" (and AVX-512-BF16, whose products
/// attention in bf16 and the GEMM library use) or "x86-64-v4-amx" (and AMX,
/// whose tiles multiply bf16), for the whole process. Call it once at start,
/// before any kernel: attention before it fails with `internal`. Bits of
/// attention depend on the choice between AVX2 and AVX-512, and those of
/// attention in bf16 on AVX-512-BF16, too; the norm's do not. Errors: usage for
/// another name, infeasible if this CPU lacks it.
Status mtc_kernels_select_isa(std::string_view isa);

/// The chosen name, or "" before the choice.
std::string_view mtc_kernels_isa();

} // namespace mtc::runtime
#endif // MTC_RUNTIME_KERNELS_CPU_ISA_H
