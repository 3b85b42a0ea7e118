//===- kernel_indices.h - the integers of a kernel's body -------*- C++ -*-===//
#ifndef MTC_PASSES_VERIFY_KERNEL_INDICES_H
#define MTC_PASSES_VERIFY_KERNEL_INDICES_H

#include "dialects/rt/Rt.h"
#include "passes/verify/index_form.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

namespace mtc::passes::verify {

/// What the body of `kernel` computes of its row, its column, its arguments and
/// the integers that it loads, which count as variables (kFirstLoaded + number
/// of the operand). Rows, columns and coordinates have the extents that `forms`
/// was told.
class KernelIndices {
public:
  KernelIndices(rt::KernelOp kernel, llvm::ArrayRef<IndexForm> arguments,
                IndexForms &forms);

  /// Empty for values of other types, and where nothing is known.
  IndexForm of(mlir::Value value) const { return known.lookup(value); }

private:
  llvm::DenseMap<mlir::Value, IndexForm> known; ///< looked up only
};

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_KERNEL_INDICES_H
