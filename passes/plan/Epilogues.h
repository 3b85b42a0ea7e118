//===- Epilogues.h - clusters that products do before they round -*- C++
//-*-===//
#ifndef MTC_PASSES_PLAN_EPILOGUES_H
#define MTC_PASSES_PLAN_EPILOGUES_H

#include "dialects/mtc/Mtc.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc::passes {

/// Makes each product of a fragment and the cluster behind it one rt.gemm,
/// where the cluster is a bias of its columns, GELU, or both, and nothing else,
/// and products of `target` may do that. What the cluster leaves of the sum,
/// for the backward, is the aux of the product.
void fuseEpilogues(mlir::func::FuncOp fn, TargetAttr target);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_EPILOGUES_H
