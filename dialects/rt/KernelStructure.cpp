//===- KernelStructure.cpp - when two kernels are the same ----------------===//
#include "dialects/rt/KernelStructure.h"

using namespace mlir;

namespace mtc::rt {

static auto signatureOf(KernelOp kernel) {
  return std::tuple(kernel.getRows(), kernel.getCols(), kernel.getArgs(),
                    kernel.getOperandsInfo(), kernel.getGuarded(),
                    kernel.getTiled());
}

bool haveSameStructure(KernelOp one, KernelOp other) {
  if (signatureOf(one) != signatureOf(other))
    return false;
  // Without a callback for commutative ops their operands keep their order.
  DenseMap<Value, Value> partners;
  auto arePartners = [&](Value a, Value b) {
    return success(partners.lookup(a) == b);
  };
  auto makePartners = [&](Value a, Value b) { partners[a] = b; };
  return OperationEquivalence::isRegionEquivalentTo(
      &one.getBody(), &other.getBody(), arePartners, makePartners,
      OperationEquivalence::IgnoreLocations);
}

size_t hashStructure(KernelOp kernel) {
  llvm::hash_code hash = llvm::hash_value(signatureOf(kernel));
  for (Operation &op : kernel.getBody().front())
    hash =
        llvm::hash_combine(hash, OperationEquivalence::computeHash(
                                     &op, OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::IgnoreLocations));
  return hash;
}

} // namespace mtc::rt
