//===- DtypePolicy.h - which type each kind of value has --------*- C++ -*-===//
//
// The one table that the importer and the passes read; docs/numerics.md shows
// it for people. A new precision is a row here.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_DIALECTS_TFM_DTYPEPOLICY_H
#define MTC_DIALECTS_TFM_DTYPEPOLICY_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Types.h"

namespace mtc::tfm {

struct DtypePolicy {
  mlir::Type compute; ///< weights as computed with, activations, the residual
                      ///< stream, their gradients, payloads of f and g
  mlir::Type statistics; ///< row statistics of norms and softmax, logits from
                         ///< the softmax on, the loss
  mlir::Type gradient;   ///< accumulators of parameters and their reduction
  mlir::Type main;       ///< main parameters and the optimizer's state

  /// Main parameters are kept beside those that are computed with.
  bool keepsMain() const { return compute != main; }
};

/// The policy of that name ("f32", "bf16"); all types null for another name.
DtypePolicy dtypePolicy(mlir::MLIRContext *context, llvm::StringRef name);

/// The policy of a module (`dtype` of mtc.config); "f32" if it does not say.
DtypePolicy dtypePolicy(mlir::ModuleOp module);

} // namespace mtc::tfm
#endif // MTC_DIALECTS_TFM_DTYPEPOLICY_H
