//===- microbatch.h - the functions that a microbatch runs ------*- C++ -*-===//
#ifndef MTC_PASSES_MICROBATCH_H
#define MTC_PASSES_MICROBATCH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mtc::passes {

/// Forward and backward of a microbatch, before stages are cut.
inline constexpr llvm::StringLiteral microbatchName = "microbatch";
/// The same of microbatches that are computed again where others are not.
inline constexpr llvm::StringLiteral recomputedName = "microbatch_recompute";

/// All of these that a module has, @microbatch first. Fails, after a
/// diagnostic, if it has no @microbatch with a body.
inline mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
microbatchesOf(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::func::FuncOp> found;
  for (llvm::StringRef name : {microbatchName, recomputedName})
    if (auto fn = module.lookupSymbol<mlir::func::FuncOp>(name);
        fn && !fn.isExternal())
      found.push_back(fn);
  if (!found.empty() && found.front().getSymName() == microbatchName)
    return found;
  return module.emitError("expected a function @microbatch with a body");
}

} // namespace mtc::passes
#endif // MTC_PASSES_MICROBATCH_H
