//===- kernel_sets.h - which kernels a program is linked with ---*- C++ -*-===//
#ifndef MTC_COMPILER_KERNEL_SETS_H
#define MTC_COMPILER_KERNEL_SETS_H

#include "compiler/plan.h"

#include <string>
#include <vector>

namespace mtc::compiler {

/// The names of the sets of the runtime's kernels that a program calls
/// (runtime/kernels/cpu/kernel_sets.h), in ascending order: those of its
/// instruction set, and of each type that its products and attention have. None
/// for a GPU.
std::vector<std::string> kernelSetsOf(const PlanConfig &config,
                                      const ProgramPlan &program);

} // namespace mtc::compiler
#endif // MTC_COMPILER_KERNEL_SETS_H
