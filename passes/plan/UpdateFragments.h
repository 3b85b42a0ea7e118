//===- UpdateFragments.h - the fragments `reduce` and `apply` ---*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_UPDATEFRAGMENTS_H
#define MTC_PASSES_PLAN_UPDATEFRAGMENTS_H

#include "dialects/rt/Rt.h"
#include "dialects/tfm/Optimizers.h"
#include "mtc/runtime/mesh.h"

#include <optional>
#include <string>
#include <vector>

namespace mtc::passes {

/// A parameter inside its bucket, in elements.
struct UpdateSegment {
  int64_t bucket = 0, start = 0, count = 0;
  bool decay = false;
  int64_t group = 0;          ///< of the step's fields
  std::vector<MtcGroup> same; ///< whose ranks have the same of it
  bool owner = true;          ///< a second copy does not count in the norm
  mlir::Location part;        ///< the parameter's
};
struct UpdateBucket {
  int64_t elements = 0, shard = 0;
  /// ZeRO: of main parameters and states a rank along dp has a shard.
  bool sharded = false;
  /// Its accumulators are of the shard, too, and summed over dp (ZeRO-2).
  bool shardsGradients = false;
  std::optional<int64_t> secondUseOf;
  bool acrossStages = false; ///< tied over the group embedding
  /// Over which its gradients are partial, in the order of their sums.
  std::vector<MtcGroup> partial = {};
  /// Not f32: main parameters are updated and rounded to it.
  mlir::Type paramType;
  mlir::Type gradType; ///< of its accumulators
  /// Of rt.bucket: "main" first, if main parameters are kept.
  llvm::SmallVector<llvm::StringRef> states = {};
  bool keepsMain() const { return !paramType.isF32(); }
};
struct UpdatePlan {
  Mesh mesh;
  bool lastStage = false;
  const tfm::OptimizerInfo *optimizer = nullptr; ///< never null
  std::vector<UpdateSegment> segments;
  std::vector<UpdateBucket> buckets;
};

/// Adds func.func @<program>_reduce and @<program>_apply to `program`:
///
///   reduce   loss over the data axes; per bucket all-reduce over the groups
///            over which it is partial, or with ZeRO reduce-scatter over dp,
///            then what this rank has of it over the other groups (under ZeRO-2
///            only the latter: it is summed over dp already); uses of tied
///            parameters added in forward order, here or over embedding; the
///            global norm, which takes in that the loss is finite
///   apply    the optimizer on the ranges of this rank, on main parameters if
///   there are
///            any, which are rounded to parameters; all-gather of these (ZeRO);
///            accumulators cleared for the next step. All of that but the
///            gathers, which then change nothing, is guarded
void buildUpdateFragments(rt::ProgramOp program, const UpdatePlan &plan);

/// The location of what is of several parameters in a row:
/// "final_norm.bias to layers.0.norm1.scale". `first` alone where both are the
/// same, or one has no name.
mlir::Location spanOf(mlir::Location first, mlir::Location last);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_UPDATEFRAGMENTS_H
