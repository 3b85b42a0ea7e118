//===- locations.h - parts of the model as locations ------------*- C++ -*-===//
//
// The location of an op names the part of the model that it comes from
// (NameLoc, "layers.3.mlp.up"), several where ops were fused; below the name
// lies the place in a file, if the IR was read from one. Files of --save-ir
// have the names alone; an op without one is of its parent's part, an argument
// of its op's.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_COMPILER_LOCATIONS_H
#define MTC_COMPILER_LOCATIONS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"

#include <string>

namespace llvm {
class SourceMgr;
} // namespace llvm
namespace mlir {
class AsmParserState;
} // namespace mlir

namespace mtc::compiler {

/// "file:line:column: layers.3.mlp.up: ", or what of it is known.
std::string describe(mlir::Location location);

/// Gives all ops and arguments of a module that was just read their part and
/// their place: what the text names, or the part of the op around them.
void locate(mlir::ModuleOp module, const mlir::AsmParserState &read,
            llvm::SourceMgr &sources);

/// While it lives, ops and arguments have the locations that are written to
/// files: names alone, and unknown where they are those of the op around them.
class WrittenLocations {
public:
  explicit WrittenLocations(mlir::ModuleOp module);
  ~WrittenLocations();
  WrittenLocations(const WrittenLocations &) = delete;
  WrittenLocations &operator=(const WrittenLocations &) = delete;

private:
  llvm::SmallVector<std::pair<mlir::Operation *, mlir::Location>> ops;
  llvm::SmallVector<std::pair<mlir::BlockArgument, mlir::Location>> arguments;
};

} // namespace mtc::compiler
#endif // MTC_COMPILER_LOCATIONS_H
