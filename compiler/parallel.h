//===- parallel.h - independent jobs on a few threads -----------*- C++ -*-===//
#ifndef MTC_COMPILER_PARALLEL_H
#define MTC_COMPILER_PARALLEL_H

#include "runtime/base/status.h"

#include <functional>

namespace mtc::compiler {

/// Runs job(0) to job(count - 1), at most `threads` at a time, each begun in
/// that order. All run, even where one fails; the error is that of the first in
/// order that failed, whatever the timing.
runtime::Status forEachJob(size_t count, int threads,
                           const std::function<runtime::Status(size_t)> &job);

} // namespace mtc::compiler
#endif // MTC_COMPILER_PARALLEL_H
