//===- shared_kernels.cpp - stages that have the same kernels -------------===//

#include "compiler/shared_kernels.h"

#include "dialects/rt/KernelStructure.h"

#include <unordered_map>

namespace mtc::compiler {
namespace {

using Kernels = llvm::SmallVector<rt::KernelOp>;

struct Hash {
  size_t operator()(const Kernels &kernels) const {
    llvm::hash_code hash(kernels.size());
    for (rt::KernelOp kernel : kernels)
      hash = llvm::hash_combine(hash, kernel.getSymName(),
                                rt::hashStructure(kernel));
    return hash;
  }
};

struct Equal {
  bool operator()(const Kernels &one, const Kernels &other) const {
    return llvm::equal(one, other, [](rt::KernelOp a, rt::KernelOp b) {
      return a.getSymName() == b.getSymName() && rt::haveSameStructure(a, b);
    });
  }
};

} // namespace

std::vector<std::optional<size_t>>
numberKernels(llvm::ArrayRef<rt::ProgramOp> programs) {
  std::unordered_map<Kernels, size_t, Hash, Equal> numbers; // looked up only
  std::vector<std::optional<size_t>> result;
  for (rt::ProgramOp program : programs) {
    Kernels kernels = llvm::to_vector(program.getOps<rt::KernelOp>());
    if (kernels.empty())
      result.emplace_back();
    else
      result.emplace_back(
          numbers.try_emplace(std::move(kernels), numbers.size())
              .first->second);
  }
  return result;
}

} // namespace mtc::compiler
