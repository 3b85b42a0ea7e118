//===- layout.h - where variables of a kernel are ---------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_DECODE_LAYOUT_H
#define MTC_TEST_CUDA_PTX_DECODE_LAYOUT_H

#include "test/cuda/ptx/decode/program.h"

namespace mtc::ptx {

struct Layout {
  /// By variable: its address in shared memory, local memory or parameters; 0
  /// of others.
  std::vector<uint32_t> offsets;
  KernelFacts facts;
};

/// Shared variables of the module take room in kernels that name them only, as
/// ptxas has it. Too much of them is a problem.
Layout layoutOf(const Tree &tree, const Function &kernel,
                std::vector<Problem> &problems);

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_DECODE_LAYOUT_H
