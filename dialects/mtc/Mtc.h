//===- Mtc.h - the mtc dialect: attributes of the module --------*- C++ -*-===//
#ifndef MTC_DIALECTS_MTC_H
#define MTC_DIALECTS_MTC_H

#include "dialects/mtc/DtypePolicy.h"
#include "mtc/runtime/mesh.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

#include <optional>

namespace mtc {

/// For the uniquing of attributes.
llvm::hash_code hash_value(const Mesh &mesh);

/// `<tp = 2, cp = 1, dp = 1, pp = 1>`: every axis once, in any order.
mlir::FailureOr<Mesh> parseMesh(mlir::AsmParser &parser);
void printMesh(mlir::AsmPrinter &printer, const Mesh &mesh);

} // namespace mtc

#include "dialects/mtc/MtcDialect.h.inc"
#include "dialects/mtc/MtcEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/mtc/MtcAttrs.h.inc"

namespace mtc {

/// The module attribute that holds a ConfigAttr.
inline constexpr llvm::StringLiteral configAttrName = "mtc.config";

/// What the module was compiled for: the one place that reads `mtc.config`.
/// Fails, after a diagnostic at the module, if there is none or another
/// attribute of that name.
mlir::FailureOr<ConfigAttr> configOf(mlir::ModuleOp module);

} // namespace mtc
#endif // MTC_DIALECTS_MTC_H
