//===- update_slices.h - which elements of a bucket an op means -*- C++ -*-===//
#ifndef MTC_PASSES_VERIFY_UPDATE_SLICES_H
#define MTC_PASSES_VERIFY_UPDATE_SLICES_H

#include "passes/verify/model.h"

namespace mtc::passes::verify {

/// A buffer of the update, in the memory of a stage.
enum class Part { Grad, Param, State, Loss };

/// Elements [begin, end) of a buffer, numbered in their bucket.
struct Slice {
  Part part = Part::Loss;
  int64_t bucket = -1;        ///< -1 of the loss
  llvm::StringRef state = {}; ///< which, of State
  int64_t begin = 0, end = 0;
  /// On each rank along dp those of its own shard only.
  bool ownShard = false;
  /// Ranks along its groups have a part each; or null.
  mutable rt::FlatRangeOp range = {};

  bool sameElements(const Slice &o) const {
    return bucket == o.bucket && begin == o.begin && end == o.end;
  }
};

/// "bucket 3": for messages.
std::string nameOf(const Slice &slice);

/// Finds slices on one stage; what is none is reported at the op.
class Slices {
public:
  Slices(const Model &model, const Stage &stage, Report &report)
      : model(model), stage(stage), report(report) {}

  /// What a launch or a norm step works on: as many elements as `length` says,
  /// which is that of the rt.flat_range that moved the view.
  std::optional<Slice> measured(const Touch &touch, const Access &access,
                                mlir::Value length);
  /// What an op works on that has `count` elements on every rank. A view moved
  /// by a range must mean all of this rank's shard.
  std::optional<Slice> counted(const Touch &touch, const Access &access,
                               int64_t count);

  /// The bucket of which a gather over dp brings all shards together.
  std::optional<Slice> gathered(const Touch &touch, rt::CollectiveOp op);

private:
  /// The buffer in which the view begins, with all that lies behind that.
  std::optional<Slice> bufferOf(const Touch &touch, const Access &access);
  std::optional<Slice> rangeOf(const Touch &touch, const Access &access,
                               Slice buffer);

  const Model &model;
  const Stage &stage;
  Report &report;
};

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_UPDATE_SLICES_H
