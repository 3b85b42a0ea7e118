//===- KernelWriter.h - a cluster as kernel and launch ----------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_KERNELWRITER_H
#define MTC_PASSES_PLAN_KERNELWRITER_H

#include "passes/plan/Cluster.h"
#include "passes/plan/Fragments.h"

namespace mtc::passes {

/// Replaces `op`, whose ops are `cluster`, by a launch of its kernel. Fails
/// after a diagnostic of an op's body.
mlir::LogicalResult writeKernel(rt::ClusterOp op, const Cluster &cluster,
                                const FragmentContext &around);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_KERNELWRITER_H
