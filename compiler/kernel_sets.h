//===- kernel_sets.h - which kernels a program is linked with ---*- C++ -*-===//
#ifndef MTC_COMPILER_KERNEL_SETS_H
#define MTC_COMPILER_KERNEL_SETS_H

#include "compiler/plan.h"
#include "dialects/rt/Rt.h"

#include <string>
#include <vector>

namespace mtc::compiler {

/// What a program has of the kernels that come with the runtime, as symbols in
/// ascending order. Those of a GPU are none for a CPU, and the other way round.
struct RuntimeKernels {
  /// Of a CPU (runtime/kernels/cpu/kernel_sets.h): those of the instruction
  /// set, and of each type that its products and attention have.
  std::vector<std::string> sets;
  /// Of a GPU (runtime/cuda/ptx_texts.h): of its attention on each chip that it
  /// has code for, our own products of its types, and what each program has.
  std::vector<std::string> texts;
};

/// `program` is the plan that was read of `op`.
RuntimeKernels runtimeKernelsOf(const PlanConfig &config, rt::ProgramOp op,
                                const ProgramPlan &program);

} // namespace mtc::compiler
#endif // MTC_COMPILER_KERNEL_SETS_H
