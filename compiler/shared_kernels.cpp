//===- shared_kernels.cpp - kernels that stages have in common ------------===//

#include "compiler/shared_kernels.h"

#include "dialects/rt/KernelStructure.h"

#include "llvm/ADT/StringSet.h"

#include <map>
#include <unordered_map>

#include <fmt/format.h>

namespace mtc::compiler {
namespace {

/// Names for kernels, which no function of a program has.
class NamePool {
public:
  explicit NamePool(llvm::ArrayRef<rt::ProgramOp> programs) {
    for (rt::ProgramOp program : programs)
      for (mlir::Operation &op : program.getBody().front())
        if (auto symbol = llvm::dyn_cast<mlir::SymbolOpInterface>(op);
            symbol && !llvm::isa<rt::KernelOp>(op))
          taken.insert(symbol.getName());
  }

  std::string take(llvm::StringRef wanted) {
    std::string name = wanted.str();
    while (!taken.insert(name).second)
      name = fmt::format("kernel{}", number++);
    return name;
  }

private:
  llvm::StringSet<> taken;
  size_t number = 0;
};

/// A structure: its first kernel, and the programs that have one like it.
struct Shared {
  NamedKernel first;
  std::vector<size_t> programs;
};

using Numbers =
    std::unordered_map<rt::KernelOp, size_t, rt::KernelStructureHash,
                       rt::KernelStructureEqual>; // looked up only

/// All structures, in the order in which programs have them.
std::vector<Shared> findShared(llvm::ArrayRef<rt::ProgramOp> programs,
                               std::vector<KernelNames> &names) {
  NamePool pool(programs);
  Numbers numbers;
  std::vector<Shared> all;
  for (size_t index = 0; index < programs.size(); ++index) {
    KernelNames &own = names.emplace_back();
    rt::ProgramOp program = programs[index];
    for (auto kernel : program.getOps<rt::KernelOp>()) {
      auto [at, isNew] = numbers.try_emplace(kernel, all.size());
      if (isNew)
        all.push_back({{kernel, pool.take(kernel.getSymName())}, {}});
      Shared &shared = all[at->second];
      // Two of one program may be alike where people edited it.
      if (shared.programs.empty() || shared.programs.back() != index)
        shared.programs.push_back(index);
      own[kernel.getSymName()] = shared.first.name;
    }
  }
  return all;
}

} // namespace

SharedKernels shareKernels(llvm::ArrayRef<rt::ProgramOp> programs,
                           size_t most) {
  SharedKernels result;
  std::map<std::vector<size_t>, size_t> open; // the last group of programs
  for (Shared &shared : findShared(programs, result.names)) {
    auto [at, isNew] = open.try_emplace(shared.programs, result.groups.size());
    if (!isNew && result.groups[at->second].kernels.size() == most) {
      at->second = result.groups.size();
      isNew = true;
    }
    if (isNew)
      result.groups.push_back({{}, shared.programs});
    result.groups[at->second].kernels.push_back(std::move(shared.first));
  }
  return result;
}

} // namespace mtc::compiler
