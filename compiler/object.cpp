//===- object.cpp - a module in the LLVM dialect to an object file --------===//

#include "compiler/object.h"

#include "compiler/output_folder.h"
#include "passes/codegen/emit.h"

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {

Status makeObject(mlir::ModuleOp module, const std::string &isa, int level,
                  std::string &bytes) {
  auto target = codegen::isaByName(isa);
  if (!target)
    return {StatusCode::usage, llvm::toString(target.takeError())};
  codegen::registerTranslations(*module.getContext());
  auto made = codegen::emitObjectBytes(module, *target, level);
  if (!made)
    return {StatusCode::internal, llvm::toString(made.takeError())};
  bytes = std::move(*made);
  return Status::okay();
}

Status emitObject(mlir::ModuleOp module, const std::string &isa,
                  const std::string &path, int level) {
  std::string bytes;
  MTC_RETURN_IF_ERROR(makeObject(module, isa, level, bytes));
  return writeFile(path, bytes);
}

} // namespace mtc::compiler
