//===- memory_limit.h - what a rank needs, and may use ----------*- C++ -*-===//
#ifndef MTC_COMPILER_MEMORY_LIMIT_H
#define MTC_COMPILER_MEMORY_LIMIT_H

#include "compiler/plan.h"
#include "runtime/base/status.h"

namespace mtc::compiler {

/// Bytes of all arenas of a rank, and of what a GPU holds beside them, in the
/// stage that needs most: what `device_memory` limits.
int64_t mostBytes(const BundlePlan &plan);

/// Whether every rank keeps the limit of the strategy, `device_memory`. Errors:
/// infeasible, with all stages that do not.
runtime::Status checkMemory(const BundlePlan &plan);

} // namespace mtc::compiler
#endif // MTC_COMPILER_MEMORY_LIMIT_H
