//===- write_programs.h - a plan to executables -----------------*- C++ -*-===//
#ifndef MTC_COMPILER_WRITE_PROGRAMS_H
#define MTC_COMPILER_WRITE_PROGRAMS_H

#include "compiler/plan.h"
#include "compiler/run_phase.h"
#include "runtime/base/status.h"

#include <functional>
#include <string>

namespace mtc::compiler {

class KernelObjects;
class LinkHelpers;

/// Compiles kernels and fragments of all stages and links an executable and a
/// shared object of each, in `folder`, which exists; objects are not kept. On
/// the threads of the module's context, but for kernels that were made before.
/// `check` is of the last phases.
/// `meanwhile` runs once while helpers still link. Errors: its own; internal,
/// with what was reported; usage, if the instruction set is unknown; failed, if
/// a link fails; writeFailed.
runtime::Status writePrograms(mlir::ModuleOp module, const BundlePlan &plan,
                              const std::string &folder, IRCheck check,
                              KernelObjects &kernels, LinkHelpers *helpers,
                              const std::function<runtime::Status()> &meanwhile,
                              DiagnosticLog &log, mlir::TimingScope &timing);

} // namespace mtc::compiler
#endif // MTC_COMPILER_WRITE_PROGRAMS_H
