//===- optimizers.h - one update of an element, by optimizer ----*- C++ -*-===//
//
// Each optimizer has a file, named after it; docs/numerics.md has the formulas.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_FAMILIES_OPTIMIZERS_H
#define MTC_PASSES_FAMILIES_OPTIMIZERS_H

#include "dialects/tfm/Tfm.h"
#include "passes/families/models.h"

namespace mtc::families {

// Bodies: of the parameter, its gradient and the states the new parameter and
// states.
Values adamw(BodyContext &c, tfm::AdamwOp op, mlir::ValueRange x);
Values adamL2(BodyContext &c, tfm::AdamL2Op op, mlir::ValueRange x);
Values sgd(BodyContext &c, tfm::SgdOp op, mlir::ValueRange x);
Values lion(BodyContext &c, tfm::LionOp op, mlir::ValueRange x);

// What several of them share.

/// The gradient, after clipping by the global norm.
mlir::Value clippedGradient(BodyContext &c, mlir::Value gradient);

/// gradient + weight_decay·param.
mlir::Value withL2Decay(BodyContext &c, mlir::Value gradient,
                        mlir::Value param);

/// param·(1 - rate·weight_decay).
mlir::Value decoupledDecay(BodyContext &c, mlir::Value param, mlir::Value rate);

/// beta·old + (1 - beta)·fresh, of the step's fields of these names.
mlir::Value mean(BodyContext &c, llvm::StringRef beta,
                 llvm::StringRef oneMinusBeta, mlir::Value old,
                 mlir::Value fresh);

/// What one step of Adam makes of a gradient: the step, to be multiplied by the
/// learning rate, and the new moments.
struct AdamStep {
  mlir::Value step, mean, meanSquare;
};
AdamStep adamStep(BodyContext &c, mlir::Value gradient, mlir::Value mean,
                  mlir::Value meanSquare);

} // namespace mtc::families
#endif // MTC_PASSES_FAMILIES_OPTIMIZERS_H
