//===- registry.h - the list of family files --------------------*- C++ -*-===//
#ifndef MTC_PASSES_FAMILIES_REGISTRY_H
#define MTC_PASSES_FAMILIES_REGISTRY_H

namespace mlir {
class MLIRContext;
}

namespace mtc::families {
// One function per family file: attaches its models to the ops of tfm, which
// `context` has loaded.
void attachPointwise(mlir::MLIRContext *context);
void attachShape(mlir::MLIRContext *context);
void attachDropout(mlir::MLIRContext *context);
void attachEinsum(mlir::MLIRContext *context);
void attachEmbedding(mlir::MLIRContext *context);
void attachLoss(mlir::MLIRContext *context);
void attachNorm(mlir::MLIRContext *context);
void attachAttention(mlir::MLIRContext *context);
void attachStructure(mlir::MLIRContext *context);
void attachOptimizer(mlir::MLIRContext *context);
} // namespace mtc::families
#endif // MTC_PASSES_FAMILIES_REGISTRY_H
