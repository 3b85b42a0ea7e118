//===- loops.h - loops and conditions with one builder ----------*- C++ -*-===//
#ifndef MTC_PASSES_CODEGEN_LOOPS_H
#define MTC_PASSES_CODEGEN_LOOPS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc::codegen {

using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::Value, mlir::ValueRange)>;

enum class Unrolling { Free, Never };

/// What a loop has that is not to be unrolled; lowerGpu gives it to LLVM, which
/// tells ptxas. Other targets leave it out.
inline constexpr const char *kLoopAttr = "llvm.loop_annotation";

/// for (i = from; i < to; i += step), carrying `init`; `body` gives the carried
/// values of the next iteration. Returns the last ones.
llvm::SmallVector<mlir::Value> emitFor(mlir::ImplicitLocOpBuilder &b,
                                       mlir::Value from, mlir::Value to,
                                       mlir::Value step, mlir::ValueRange init,
                                       LoopBody body,
                                       Unrolling unrolling = Unrolling::Free);

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
