//===- kernel_values.h - what kernels compute -------------------*- C++ -*-===//
#ifndef MTC_PASSES_VERIFY_KERNEL_VALUES_H
#define MTC_PASSES_VERIFY_KERNEL_VALUES_H

#include "dialects/rt/Rt.h"
#include "passes/verify/numbers.h"

namespace mtc::passes::verify {

/// What a kernel does, by operand.
struct KernelValues {
  llvm::SmallVector<rt::AccessKind> effects;
  /// What it makes of an operand, as a function of what all operands hold:
  /// kernels that compute the same have the same number, whatever their names
  /// and the order of their ops.
  llvm::SmallVector<Number> made;
  /// The operand of which it makes a copy, or -1.
  llvm::SmallVector<int64_t> copyOf;
};

/// The kernels of a program or of its tensor form, numbered by structure.
class Kernels {
public:
  Kernels(mlir::Block &holder, Numbers &numbers);
  /// Null if there is none of that name.
  const KernelValues *find(llvm::StringRef name) const;

private:
  llvm::DenseMap<llvm::StringRef, KernelValues> byName; ///< looked up only
};

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_KERNEL_VALUES_H
