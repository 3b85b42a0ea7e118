//===- object.cpp - a module in the LLVM dialect to an object file --------===//

#include "compiler/object.h"

#include "compiler/output_folder.h"
#include "passes/codegen/emit.h"

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {

Status emitObject(mlir::ModuleOp module, const std::string &isa,
                  const std::string &path, int level) {
  auto target = codegen::isaByName(isa);
  if (!target)
    return {StatusCode::usage, llvm::toString(target.takeError())};
  codegen::registerTranslations(*module.getContext());
  auto bytes = codegen::emitObjectBytes(module, *target, level);
  if (!bytes)
    return {StatusCode::internal, llvm::toString(bytes.takeError())};
  return writeFile(path, *bytes);
}

} // namespace mtc::compiler
