//===- KernelStructure.h - when two kernels are the same --------*- C++ -*-===//
#ifndef MTC_DIALECTS_RT_KERNELSTRUCTURE_H
#define MTC_DIALECTS_RT_KERNELSTRUCTURE_H

#include "dialects/rt/Rt.h"

#include <unordered_set>

namespace mtc::rt {

/// Whether two kernels are the same apart from their names and locations: loop
/// nest, operands, guard, whether they are tiled, and the ops of their bodies
/// in order. Operands of commutative ops count in order, too: equal kernels
/// give equal bits.
bool haveSameStructure(KernelOp one, KernelOp other);

/// Equal for kernels of the same structure; another in every process.
size_t hashStructure(KernelOp kernel);

/// Kernels, one of each structure. Not to be iterated over: the order changes
/// from run to run.
struct KernelStructureHash {
  size_t operator()(KernelOp kernel) const { return hashStructure(kernel); }
};
struct KernelStructureEqual {
  bool operator()(KernelOp one, KernelOp other) const {
    return haveSameStructure(one, other);
  }
};
using KernelSet =
    std::unordered_set<KernelOp, KernelStructureHash, KernelStructureEqual>;

} // namespace mtc::rt
#endif // MTC_DIALECTS_RT_KERNELSTRUCTURE_H
