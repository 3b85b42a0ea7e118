//===- splits.h - does a strategy fit the parameters ------------*- C++ -*-===//
#ifndef MTC_COMPILER_SPLITS_H
#define MTC_COMPILER_SPLITS_H

#include "models/strategy.h"
#include "runtime/base/status.h"

#include "mlir/IR/BuiltinOps.h"

namespace mtc::compiler {

/// What only the imported model can tell of the rules of a strategy: that the
/// parameters that an override names are there, that one mesh axis splits one
/// dimension of each, and that those of a module agree on which. Errors:
/// infeasible, all of them at once.
runtime::Status checkSplits(mlir::ModuleOp module,
                            const models::Strategy &strategy);

} // namespace mtc::compiler
#endif // MTC_COMPILER_SPLITS_H
