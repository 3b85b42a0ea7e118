//===- parallel.h - independent jobs on a few threads -----------*- C++ -*-===//
#ifndef MTC_COMPILER_PARALLEL_H
#define MTC_COMPILER_PARALLEL_H

#include "runtime/base/status.h"

#include <functional>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace mtc::compiler {

/// Runs job(0) to job(count - 1) on the threads of `context`, or one after the
/// other if it has none, each begun in that order. All run, even where one
/// fails; the error is that of the first in order that failed, and what jobs
/// report reaches the handlers of the context in that order, whatever the
/// timing.
runtime::Status forEachJob(mlir::MLIRContext &context, size_t count,
                           const std::function<runtime::Status(size_t)> &job);

} // namespace mtc::compiler
#endif // MTC_COMPILER_PARALLEL_H
