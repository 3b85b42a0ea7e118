//===- MadeGradients.h - gradients that a fragment makes --------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_MADEGRADIENTS_H
#define MTC_PASSES_PLAN_MADEGRADIENTS_H

#include "passes/plan/Params.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <vector>

namespace mtc::passes {

/// The gradients of one bucket that a fragment makes.
struct MadeBucket {
  rt::BucketOp op;
  std::vector<rt::RefOp> refs;
  /// That add to them; null if nothing does.
  mlir::Operation *first = nullptr, *last = nullptr;
  int64_t uses = 0; ///< of parameters, in the bucket

  /// Whether the fragment makes all gradients of the bucket.
  bool isComplete() const {
    return first && uses == static_cast<int64_t>(refs.size());
  }
};

/// The buckets of `program` to whose gradients `fn` adds, by number.
/// Accumulators are those of lower-calls, by parameter and use. Fails, with a
/// diagnostic at the accumulator, where one has no bucket in the program.
mlir::FailureOr<std::map<int64_t, MadeBucket>>
gradientsMadeBy(mlir::func::FuncOp fn, rt::ProgramOp program,
                const ParamTable &params);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_MADEGRADIENTS_H
