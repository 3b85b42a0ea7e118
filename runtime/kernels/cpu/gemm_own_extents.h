//===- gemm_own_extents.h - counting blocks of a product --------*- C++ -*-===//
//
// Internal to gemm_own.cpp and gemm_own_plan.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_EXTENTS_H
#define MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_EXTENTS_H

#include <cstdint>

namespace mtc::runtime {

/// Rows of a piece of the tail, which threads take one by one.
inline constexpr int64_t kTailRows = 64;

inline int64_t ceilDiv(int64_t x, int64_t by) { return (x + by - 1) / by; }
inline int64_t roundUp(int64_t x, int64_t to) { return ceilDiv(x, to) * to; }
/// Floats, so that what follows is 64-aligned.
inline int64_t aligned(int64_t floats) { return roundUp(floats, 16); }

} // namespace mtc::runtime
#endif // MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_EXTENTS_H
