//===- object.h - a module in the LLVM dialect to an object file ----------===//
#ifndef MTC_COMPILER_OBJECT_H
#define MTC_COMPILER_OBJECT_H

#include "runtime/base/status.h"

#include <string>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace mtc::compiler {

/// Position-independent machine code for `isa` (one of runtime::kIsas),
/// optimised by `level` (0 to 3). Equal modules give equal
/// bytes. Errors: usage if the instruction set is unknown, internal.
runtime::Status makeObject(mlir::ModuleOp module, const std::string &isa,
                           int level, std::string &bytes);

/// The same as a file. Errors: its own, writeFailed.
runtime::Status emitObject(mlir::ModuleOp module, const std::string &isa,
                           const std::string &path, int level = 2);

} // namespace mtc::compiler
#endif // MTC_COMPILER_OBJECT_H
