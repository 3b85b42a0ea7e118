//===- DtypePolicy.h - which type each kind of value has --------*- C++ -*-===//
//
// The one table that the importer and the passes read; docs/numerics.md shows
// it for people. A new precision is a case of `Precision` and a row here; what
// gradients are summed in is a choice of its own.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_DIALECTS_MTC_DTYPEPOLICY_H
#define MTC_DIALECTS_MTC_DTYPEPOLICY_H

#include "mlir/IR/Types.h"

#include <string>

namespace mtc {
enum class Precision : uint32_t;

struct DtypePolicy {
  mlir::Type compute; ///< weights as computed with, activations, the residual
                      ///< stream, their gradients, payloads of f and g
                      ///< (norms compute in f32, with weights as stored)
  mlir::Type statistics;  ///< row statistics of norms and softmax, logits from
                          ///< the softmax on, the loss
  mlir::Type gradient;    ///< of parameters, as one microbatch makes them: sums
                          ///< are not rounded before they are accumulated
  mlir::Type accumulator; ///< sums of these over microbatches and ranks, of
                          ///< parameters that are not stored as main ones
  mlir::Type main;        ///< main parameters and the optimizer's state
  /// Gradients are those of the loss times the loss scale of the step: in the
  /// compute type small ones would be 0.
  bool scalesLoss = false;

  /// Parameters are stored in the type that is computed with or, each by its
  /// own override, in that of main parameters.
  bool stores(mlir::Type param) const {
    return param == compute || param == main;
  }
  /// Those types, for messages.
  std::string storedTypes() const;
  /// Main parameters are kept beside parameters of this type.
  bool keepsMain(mlir::Type param) const { return param != main; }
  /// Of the accumulators of parameters of this type: what is stored in full is
  /// summed in full.
  mlir::Type accumulatorOf(mlir::Type param) const {
    return keepsMain(param) ? accumulator : main;
  }
};

/// `gradients` is what accumulators have: f32, or what the model computes in.
DtypePolicy dtypePolicy(mlir::MLIRContext *context, Precision precision,
                        Precision gradients);

} // namespace mtc
#endif // MTC_DIALECTS_MTC_DTYPEPOLICY_H
