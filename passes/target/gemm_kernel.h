//===- gemm_kernel.h - what computes a product ------------------*- C++ -*-===//
#ifndef MTC_PASSES_TARGET_GEMM_KERNEL_H
#define MTC_PASSES_TARGET_GEMM_KERNEL_H

#include "dialects/rt/Rt.h"

namespace mtc::target {

/// What computes a product of the module's target, by its choice (`gemm`), the
/// product's shape and its types; none where the device's library does. The op
/// is on tensors or on views; what it says itself is not looked at.
std::optional<rt::GemmKernel> gemmKernel(rt::GemmOp op);

} // namespace mtc::target
#endif // MTC_PASSES_TARGET_GEMM_KERNEL_H
