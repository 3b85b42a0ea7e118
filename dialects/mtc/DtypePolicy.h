//===- DtypePolicy.h - which type each kind of value has --------*- C++ -*-===//
//
// The one table that the importer and the passes read; docs/numerics.md shows
// it for people. A new precision is a case of `Precision` and a row here.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_DIALECTS_MTC_DTYPEPOLICY_H
#define MTC_DIALECTS_MTC_DTYPEPOLICY_H

#include "mlir/IR/Types.h"

namespace mtc {
enum class Precision : uint32_t;

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

DtypePolicy dtypePolicy(mlir::MLIRContext *context, Precision precision);

} // namespace mtc
#endif // MTC_DIALECTS_MTC_DTYPEPOLICY_H
