//===- recompute_policy.h - what the backward computes again ----*- C++ -*-===//
#ifndef MTC_PASSES_MODEL_RECOMPUTE_POLICY_H
#define MTC_PASSES_MODEL_RECOMPUTE_POLICY_H

#include "dialects/mtc/Mtc.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mtc::model {

/// The policy of a configuration, for the ops of @microbatch. Another policy,
/// such as the least that fits a device, is another way to make one.
class Recomputation {
public:
  /// That of the module's configuration, whose `recompute` is there; fails,
  /// after a diagnostic, where layers and stages do not add up.
  static mlir::FailureOr<Recomputation> make(mlir::func::FuncOp microbatch,
                                             RecomputeAttr recompute);

  /// Whether the backward computes again what the forward op makes. Never true
  /// of the embedding and the head, which run once per microbatch and save
  /// little for what they compute.
  bool computesAgain(mlir::Operation *op) const;

private:
  RecomputeAttr recompute;
  int64_t layers = 0;            ///< transformer layers: 1 to this
  llvm::DenseSet<int64_t> whole; ///< of full, layers, microbatches
};

} // namespace mtc::model
#endif // MTC_PASSES_MODEL_RECOMPUTE_POLICY_H
