//===- gemm_check.h - legal products ----------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_KERNELS_CPU_GEMM_CHECK_H
#define MTC_RUNTIME_KERNELS_CPU_GEMM_CHECK_H

#include "runtime/kernels/cpu/gemm.h"

namespace mtc::runtime {

/// For messages: sizes, beta and types.
std::string describe(const GemmDesc &desc);

/// Errors: usage for a product that nothing computes.
Status checkGemm(const GemmDesc &desc, int threads);

/// Errors: usage for an op(b) of no product.
Status checkPacked(const PackedDesc &desc, int threads);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_KERNELS_CPU_GEMM_CHECK_H
