//===- CountedSums.h - sums that count what they make -----------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_COUNTEDSUMS_H
#define MTC_PASSES_PLAN_COUNTEDSUMS_H

#include "dialects/rt/Rt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace mtc::passes {

/// A part of a bucket's buffer of gradients, by the ops that say where it lies.
struct GradientRange {
  rt::RefOp buffer = {};      ///< of a bucket
  rt::OffsetViewOp view = {}; ///< null: all of the buffer
  rt::FlatRangeOp range = {}; ///< likewise

  /// Whether the range says by how much the view is moved, in the bucket or in
  /// the shard.
  bool isMoved() {
    return view.getElements() == range.getAt() ||
           view.getElements() == range.getLocal();
  }

  /// None of what is no such part.
  static std::optional<GradientRange> of(mlir::Value view);
  /// What a step of the norm counts.
  static std::optional<GradientRange> of(rt::NormOp norm);
};

/// A step of the norm that accumulates what the buffer of `like` has of a
/// segment, [start, start + count), of which ranks of `among` (null: none) have
/// a part each.
rt::NormOp addCount(mlir::OpBuilder &b, mlir::Location loc, GradientRange like,
                    int64_t start, int64_t count, rt::GroupsAttr among);

/// Removes a step of the norm, and of its address what nobody else needs.
void removeCount(rt::NormOp norm);

/// Where what an `rt.norm accumulate` of `reduce` counts was last written there
/// by a sum in f32, over ranks or of two uses, the step continues the sum. All
/// run on one stream.
void continueSums(mlir::func::FuncOp reduce);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_COUNTEDSUMS_H
