//===- shared_kernels.h - kernels that stages have in common ----*- C++ -*-===//
#ifndef MTC_COMPILER_SHARED_KERNELS_H
#define MTC_COMPILER_SHARED_KERNELS_H

#include "dialects/rt/Rt.h"

#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace mtc::compiler {

/// What the kernels of a program are called in its objects, by their names.
using KernelNames = llvm::StringMap<std::string>;

/// A kernel, and what it is called in an object.
struct NamedKernel {
  rt::KernelOp kernel;
  std::string name;
};

/// Kernels that one object is made of, in the order in which programs have
/// them, and the programs, by index, that are linked with it: all of them have
/// all of these kernels.
struct KernelGroup {
  std::vector<NamedKernel> kernels;
  std::vector<size_t> programs;
};

struct SharedKernels {
  std::vector<KernelGroup> groups; ///< in the order of their first kernels
  std::vector<KernelNames> names;  ///< by program
};

/// One kernel of each structure for all programs, so that each is compiled
/// once; where in the model it comes from does not count. It has the name that
/// it has in the first program, unless another kernel or a function of any
/// program is called so: then "kernel" and a number. Of the kernels that the
/// same programs have, a group has `most` at most.
SharedKernels shareKernels(llvm::ArrayRef<rt::ProgramOp> programs,
                           size_t most = 12);

} // namespace mtc::compiler
#endif // MTC_COMPILER_SHARED_KERNELS_H
