//===- Optimizers.h - the optimizers of the dialect -------------*- C++ -*-===//
//
// The one list of optimizers. An optimizer is an op of this dialect, one update
// of a flat range: from the parameter, its gradient and what it keeps of each
// element (its states) it makes the new parameter and the new states. The
// family `optimizer` gives its arithmetic; all else follows from this list:
// which states a bucket has, their bytes, the kernel of `apply`, what
// verify-plan expects.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_DIALECTS_TFM_OPTIMIZERS_H
#define MTC_DIALECTS_TFM_OPTIMIZERS_H

#include "dialects/mtc/Mtc.h"

#include "mlir/IR/Builders.h"

namespace mtc::tfm {

struct OptimizerInfo {
  /// Names of its states, f32, in the order of operands and results.
  llvm::ArrayRef<llvm::StringRef> states;
  /// Makes the op: operands `param`, `gradient` and one value per state, all
  /// f32 tensors of one shape; results the new parameter and states. `decay`:
  /// whether the parameter is subject to weight decay.
  mlir::Operation *(*create)(mlir::OpBuilder &b, mlir::Location loc,
                             mlir::Value param, mlir::Value gradient,
                             mlir::ValueRange states, bool decay);
};

/// The row of an optimizer. Static storage.
const OptimizerInfo &optimizerOf(OptimizerKind kind);

} // namespace mtc::tfm
#endif // MTC_DIALECTS_TFM_OPTIMIZERS_H
