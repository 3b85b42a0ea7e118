//===- loops.h - loops and conditions with one builder ----------*- C++ -*-===//
#ifndef MTC_PASSES_CODEGEN_LOOPS_H
#define MTC_PASSES_CODEGEN_LOOPS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc::codegen {

using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::Value, mlir::ValueRange)>;

enum class Unrolling { Free, Never };

/// What a loop has that is not to be unrolled.
inline constexpr const char *kLoopAttr = "llvm.loop_annotation";

/// Tells LLVM, and ptxas behind it, what loops had: upstream hands that on to
/// their branches, but not as those operations have it.
void annotateLoops(mlir::Operation *lowered);

/// for (i = from; i < to; i += step), carrying `init`; `body` gives the carried
/// values of the next iteration. Returns the last ones.
llvm::SmallVector<mlir::Value> emitFor(mlir::ImplicitLocOpBuilder &b,
                                       mlir::Value from, mlir::Value to,
                                       mlir::Value step, mlir::ValueRange init,
                                       LoopBody body,
                                       Unrolling unrolling = Unrolling::Free);

/// The same of a loop that carries nothing and is never unrolled: one over
/// rows, mostly around others, or one of long arithmetic. LLVM would take long
/// to find out that it gains nothing.
void emitRolledFor(mlir::ImplicitLocOpBuilder &b, mlir::Value from,
                   mlir::Value to, mlir::Value step,
                   llvm::function_ref<void(mlir::Value)> body);

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
