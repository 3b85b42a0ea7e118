//===- print_ir.h - IR for people to read -----------------------*- C++ -*-===//
#ifndef MTC_COMPILER_PRINT_IR_H
#define MTC_COMPILER_PRINT_IR_H

#include "compiler/compile.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace mtc::compiler {

/// The text of a module as --save-ir writes it and --from reads it.
std::string printModule(mlir::ModuleOp module);

/// Whether somebody wants to see the result of a phase: --save-ir,
/// --mlir-print-ir-after.
bool wantsResult(const CompileOptions &options, Phase phase);

/// Writes the result of a phase to the folder of --save-ir and to stderr, each
/// if it is wanted. A file that is the input of the compilation stays. `stage`
/// is that of a module of one stage; -1: of the whole machine. Errors:
/// writeFailed.
runtime::Status showResult(const CompileOptions &options, Phase phase,
                           const std::string &text, int64_t stage = -1);

} // namespace mtc::compiler
#endif // MTC_COMPILER_PRINT_IR_H
