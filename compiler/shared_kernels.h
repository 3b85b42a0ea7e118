//===- shared_kernels.h - stages that have the same kernels -----*- C++ -*-===//
#ifndef MTC_COMPILER_SHARED_KERNELS_H
#define MTC_COMPILER_SHARED_KERNELS_H

#include "dialects/rt/Rt.h"

#include <optional>
#include <vector>

namespace mtc::compiler {

/// Numbers the sets of kernels that programs have, from 0 in the order of
/// programs. Two programs have the same number, and so one object, if their
/// kernels are of the same names and structure, in order; where in the model
/// they come from does not count. A program without kernels has no number.
std::vector<std::optional<size_t>>
numberKernels(llvm::ArrayRef<rt::ProgramOp> programs);

} // namespace mtc::compiler
#endif // MTC_COMPILER_SHARED_KERNELS_H
