//===- KernelPool.cpp - kernels of one program ----------------------------===//
#include "passes/plan/KernelPool.h"

using namespace mlir;
using namespace mtc;

namespace mtc::passes {

KernelPool::KernelPool(Block *program) : program(program) {
  for (auto kernel : program->getOps<rt::KernelOp>()) {
    kernels.insert(kernel);
    taken.insert(kernel.getSymName().str());
  }
}

/// People may have dropped a kernel: the number of kernels may be taken.
std::string KernelPool::freshName() {
  size_t number = kernels.size();
  std::string name;
  do
    name = "kernel" + std::to_string(number++);
  while (!taken.insert(name).second);
  return name;
}

std::string KernelPool::add(rt::KernelOp kernel) {
  if (auto it = kernels.find(kernel); it != kernels.end()) {
    kernel->destroy();
    return rt::KernelOp(*it).getSymName().str();
  }
  std::string name = freshName();
  kernel.setSymName(name);
  kernels.insert(kernel);
  // After the kernels that are there already.
  auto at = program->begin();
  while (at != program->end() && isa<rt::KernelOp>(*at))
    ++at;
  program->getOperations().insert(at, kernel);
  return name;
}

} // namespace mtc::passes
