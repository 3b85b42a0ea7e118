//===- ranges.h - flat ranges over parameters -------------------*- C++ -*-===//
#ifndef MTC_PASSES_VERIFY_RANGES_H
#define MTC_PASSES_VERIFY_RANGES_H

#include "passes/verify/model.h"

namespace mtc::passes::verify {

/// What of a bucket an access means.
enum class Part { None, Param, Grad, State };

/// The bucket and part that an access to params, grads or moments names by its
/// first byte; index -1 if it names none.
struct BucketPart {
  int64_t bucket = -1;
  Part part = Part::None;
  llvm::StringRef state = {}; ///< which, of State
};
BucketPart bucketPart(const Stage &stage, const Extent &extent);

/// Refuses a view of a part of bucket `index`, and one that rt.offset_view
/// moved: what works on a whole bucket must have all of it.
void expectUnmoved(const Stage &stage, mlir::Operation *op,
                   const Access &access, int64_t index, Report &report);

/// A range of a bucket that `op` works on.
struct RangeUse {
  mlir::Operation *op = nullptr;
  mutable rt::FlatRangeOp range;
};

/// Compares ranges with parameters of one bucket, whose elements must each be
/// met once. Elements that no range has, that several have, or ranges over no
/// parameter are findings.
/// `verb` says what a range does ("counted in the norm"). `everyRank`: each
/// rank does it for what it holds; else an element counts once over all ranks.
void checkCover(const Model &model, rt::BucketOp bucket,
                std::vector<Param> segments, std::vector<RangeUse> uses,
                llvm::StringRef verb, bool everyRank, mlir::Operation *where,
                Report &report);

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_RANGES_H
