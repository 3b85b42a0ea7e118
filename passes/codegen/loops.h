//===- loops.h - loops and conditions with one builder ----------*- C++ -*-===//
#ifndef MTC_PASSES_CODEGEN_LOOPS_H
#define MTC_PASSES_CODEGEN_LOOPS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc::codegen {

using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::Value, mlir::ValueRange)>;

/// for (i = from; i < to; i += step), carrying `init`; `body` gives the carried
/// values of the next iteration. Returns the last ones.
llvm::SmallVector<mlir::Value> emitFor(mlir::ImplicitLocOpBuilder &b,
                                       mlir::Value from, mlir::Value to,
                                       mlir::Value step, mlir::ValueRange init,
                                       LoopBody body);

/// Runs `body` where `condition` (i1) holds.
void emitIf(mlir::ImplicitLocOpBuilder &b, mlir::Value condition,
            llvm::function_ref<void()> body);

/// `body` gives the values where `condition` holds; `otherwise` stands
/// elsewhere.
llvm::SmallVector<mlir::Value>
emitIfElse(mlir::ImplicitLocOpBuilder &b, mlir::Value condition,
           mlir::ValueRange otherwise,
           llvm::function_ref<llvm::SmallVector<mlir::Value>()> body);

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_LOOPS_H
