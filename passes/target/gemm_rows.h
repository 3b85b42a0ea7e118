//===- gemm_rows.h - the GEMMs of a program, as its runtime reads them ----===//
//
// What a GEMM is stands on rt.gemm alone. Code calls it by the number of a row
// in a list that is made from the ops, in their order: both the code and the
// descriptor make it by this class, so the numbers agree.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_TARGET_GEMM_ROWS_H
#define MTC_PASSES_TARGET_GEMM_ROWS_H

#include "dialects/rt/Rt.h"
#include "mtc/runtime/descriptor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace mtc::target {

/// A float type, as the runtime has it; and the element type of a tensor or
/// view.
MtcDtype dtypeOf(mlir::Type element);
MtcDtype dtypeOf(mlir::Value value);

/// The records of an op: one, or behind it that of the first microbatch, which
/// does not add. `scratch` is what the op has, 0 on tensors.
llvm::SmallVector<runtime::GemmInfo, 2> gemmRows(rt::GemmOp op);

/// The distinct GEMMs of fragments, in the order in which they first stand.
class GemmRows {
public:
  void add(mlir::func::FuncOp fragment);
  /// The numbers of the rows of an op that was added.
  llvm::SmallVector<int64_t, 2> indicesOf(rt::GemmOp op) const;
  const std::vector<runtime::GemmInfo> &rows() const { return all; }

private:
  std::vector<runtime::GemmInfo> all;
};

} // namespace mtc::target
#endif // MTC_PASSES_TARGET_GEMM_ROWS_H
