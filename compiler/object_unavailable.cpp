//===- object_unavailable.cpp - a build without passes/codegen ------------===//

#include "compiler/object.h"

#include "mlir/IR/BuiltinOps.h"

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {

static Status unavailable() {
  return {StatusCode::internal,
          "this build of mtc has no code generation (MTC_PASS_LIBRARIES)"};
}

Status emitObject(mlir::ModuleOp, const std::string &, const std::string &) {
  return unavailable();
}

Status emitPtx(mlir::ModuleOp, const std::string &, std::string &) {
  return unavailable();
}

} // namespace mtc::compiler
