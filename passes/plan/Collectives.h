//===- Collectives.h - dist to kernels and calls ----------------*- C++ -*-===//
//
// Calls of the runtime work in place, on a buffer that holds one part per rank
// of the group, in order. Where a dimension but the first is split, or a rank
// has only its part, kernels move rows before and after the call:
//
//   all_gather      place, call, unpack        reduce_scatter   pack, call,
//   take all_reduce      call                       slice            take
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_PLAN_COLLECTIVES_H
#define MTC_PASSES_PLAN_COLLECTIVES_H

#include "dialects/dist/Dist.h"
#include "dialects/rt/Rt.h"

#include <optional>

namespace mtc::passes {

/// The call that a collective of dist becomes.
struct CollectiveCall {
  rt::CollectiveKind kind;
  llvm::StringRef axis;    ///< of the mesh
  int64_t count = 0;       ///< elements, as rt.collective counts them
  mlir::StringAttr serves; ///< of the op
};

/// Nothing for an op that moves nothing between ranks: dist.slice, and ops of
/// other dialects.
std::optional<CollectiveCall> callOf(mlir::Operation *op);

/// Fails, with a diagnostic, on an op of dist without a lowering, or over an
/// axis that is no group of ranks.
mlir::LogicalResult checkCollective(mlir::Operation *op);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_COLLECTIVES_H
