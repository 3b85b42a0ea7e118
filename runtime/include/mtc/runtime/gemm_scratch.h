//===- gemm_scratch.h - what the planner asks about products ----*- C++ -*-===//
#ifndef MTC_RUNTIME_GEMM_SCRATCH_H
#define MTC_RUNTIME_GEMM_SCRATCH_H

#include "mtc/runtime/descriptor.h"

#include <string_view>

namespace mtc::runtime {

/// Bytes of scratch of a row, without epilogue, on a CPU, by its kernel, under
/// `isa` and with `threads` threads; -1 if that kernel has no such product.
/// Fixes oneDNN's instruction set where that library computes the row.
int64_t gemmScratch(std::string_view isa, const GemmInfo &row, int threads);

/// Bytes of op(b), [k, n] of `type`, packed for products by the kernel
/// ownPacked under `isa`; -1 if there are none of that.
int64_t packedBytes(std::string_view isa, int64_t n, int64_t k, MtcDtype type);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_GEMM_SCRATCH_H
