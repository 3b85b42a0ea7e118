//===- Continuations.h - kernels that continue products ---------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_CONTINUATIONS_H
#define MTC_PASSES_PLAN_CONTINUATIONS_H

#include "dialects/rt/Rt.h"

#include "llvm/ADT/DenseSet.h"

namespace mtc::passes {

/// Lets launches behind products of a cpu continue them (`continues` of
/// rt.launch): those that compute each element of the product by itself, and
/// nothing of another shape. Their kernels become tiled; one that other
/// launches need as it is gets a tiled copy. On tensors, once the order of ops
/// is known.
void continueProducts(rt::ProgramOp program);

/// The products that a launch could continue as ops stand now, if they keep
/// their kernel. Streams may still put a wait behind some, and free none.
llvm::DenseSet<mlir::Operation *> continuableProducts(rt::ProgramOp program);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_CONTINUATIONS_H
