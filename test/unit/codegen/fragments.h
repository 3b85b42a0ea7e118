//===- fragments.h - fragments of functions, down to launches ---*- C++ -*-===//
#ifndef MTC_TEST_UNIT_CODEGEN_FRAGMENTS_H
#define MTC_TEST_UNIT_CODEGEN_FRAGMENTS_H

#include "random_function.h"

#include "dialects/rt/Rt.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <vector>

namespace mtc::test {

/// A module with the functions, and one program with their fragments after
/// form-clusters to lower-calls; null after a diagnostic.
mlir::OwningOpRef<mlir::ModuleOp>
lowerFragments(mlir::MLIRContext &context,
               const std::vector<RandomFunction> &functions);

/// Copies of a program's kernels.
mlir::OwningOpRef<mlir::ModuleOp> kernelsOf(rt::ProgramOp program);

} // namespace mtc::test
#endif // MTC_TEST_UNIT_CODEGEN_FRAGMENTS_H
