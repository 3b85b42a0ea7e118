//===- KernelPool.h - kernels of one program --------------------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_KERNELPOOL_H
#define MTC_PASSES_PLAN_KERNELPOOL_H

#include "dialects/rt/KernelStructure.h"

#include <set>
#include <string>

namespace mtc::passes {

/// Kernels of one program; those of the same structure are shared.
class KernelPool {
public:
  /// `program` receives the rt.kernel ops, at its start; those that it has
  /// already are shared, too.
  explicit KernelPool(mlir::Block *program);
  /// Takes a detached kernel; returns the name of it or of one like it. Names
  /// are "kernel" and a number, in the order in which kernels come.
  std::string add(rt::KernelOp kernel);

private:
  std::string freshName();

  mlir::Block *program;
  rt::KernelSet kernels;
  std::set<std::string> taken;
};

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_KERNELPOOL_H
