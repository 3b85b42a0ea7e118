//===- kinds.h - the kinds of ops that fragments hold -----------*- C++ -*-===//
#ifndef MTC_TEST_UNIT_EFFECTS_KINDS_H
#define MTC_TEST_UNIT_EFFECTS_KINDS_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Operation.h"

#include <set>
#include <string>

namespace mtc::test {

/// What must have a case, read from the dialect: every op that works on
/// buffers, in every form that its enums and flags can give it, and every op
/// and mode of operand that stands in kernels.
std::set<std::string> kindsOfDialect(mlir::MLIRContext &context);

/// The kinds that an op of a fragment is an example of.
std::set<std::string> kindsOf(mlir::Operation *op);

/// Ops of the dialect that do not say what they do to memory: neither accesses
/// nor effects, nor that there are none. They cannot stand in fragments.
std::set<std::string> opsWithoutEffects(mlir::MLIRContext &context);

/// Ops that have effects and no buffers.
std::set<std::string> opsWithoutBuffers(mlir::MLIRContext &context);

} // namespace mtc::test
#endif // MTC_TEST_UNIT_EFFECTS_KINDS_H
