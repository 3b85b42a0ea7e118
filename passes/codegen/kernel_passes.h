//===- kernel_passes.h - LLVM's passes for a CPU's kernels ------*- C++ -*-===//
#ifndef MTC_PASSES_CODEGEN_KERNEL_PASSES_H
#define MTC_PASSES_CODEGEN_KERNEL_PASSES_H

#include "llvm/IR/PassManager.h"
#include "llvm/Support/Error.h"

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace mtc::codegen {

/// Those of O2 that change what codegen-kernels writes: functions that call
/// nothing but meetings of a team, of nested loops that have their vectors and
/// no memory of their own but rows. The others find next to nothing to do
/// there, and take as long.
llvm::Error addKernelPasses(llvm::PassBuilder &builder,
                            llvm::ModulePassManager &passes);

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_KERNEL_PASSES_H
