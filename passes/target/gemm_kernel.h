//===- gemm_kernel.h - what computes a product ------------------*- C++ -*-===//
#ifndef MTC_PASSES_TARGET_GEMM_KERNEL_H
#define MTC_PASSES_TARGET_GEMM_KERNEL_H

#include "dialects/rt/Rt.h"

namespace mtc::target {

/// What computes a product of the module's target, by its choice (`gemm`); none
/// where the device's library does. What the op itself says is not looked at.
std::optional<rt::GemmKernel> gemmKernel(rt::GemmOp op);

} // namespace mtc::target
#endif // MTC_PASSES_TARGET_GEMM_KERNEL_H
