//===- layout.h - whole tensors to ranks and back ---------------*- C++ -*-===//
#ifndef MTC_TEST_EVALUATOR_LAYOUT_H
#define MTC_TEST_EVALUATOR_LAYOUT_H

#include "test/evaluator/evaluate.h"

namespace mtc::eval {

/// The part of `whole` that each rank of `mesh` has under `sharding`, which
/// must be free of partial states. Where two axes split one dimension, the
/// outer axis splits first.
/// What the rank at `coordinate` of an axis of `ranks` has of `x`, which the
/// axis splits on `dim`: of 2·ranks pieces, the one with that number from the
/// start and the one with that number from the end, or one of equal parts.
Tensor partOf(const Tensor &x, int64_t dim, llvm::StringRef axis,
              int64_t coordinate, int64_t ranks);
/// The whole that ranks along an axis have, by coordinate.
Tensor wholeOf(const Ranks &parts, int64_t dim, llvm::StringRef axis);

Ranks distribute(const Tensor &whole, dist::ShardingAttr sharding,
                 const Mesh &mesh);

/// The inverse: joins splits, adds partial sums, takes the larger of partial
/// maxima. Copies of a replicated value must agree within `tolerance`
/// (`difference`); else the result is a failure and `error` says which axis.
mlir::FailureOr<Tensor> reassemble(const Ranks &ranks,
                                   dist::ShardingAttr sharding,
                                   const Mesh &mesh, double tolerance,
                                   std::string &error);

} // namespace mtc::eval
#endif // MTC_TEST_EVALUATOR_LAYOUT_H
