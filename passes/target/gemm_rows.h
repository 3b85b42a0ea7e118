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

/// What microbatches compute by an op of which these conditions hold.
struct MicrobatchRow {
  runtime::GemmInfo row;
  bool isFirst = false; ///< microbatch 0
  bool isLast = false;  ///< `last` of MtcStep
};

/// The records of an op: that of most microbatches, then that of the first one,
/// if it stores, that of the last one, if it counts squares, and that of one
/// that is both. Of those whose conditions hold the last one is meant.
/// `scratch` is what the op has, 0 on tensors.
llvm::SmallVector<MicrobatchRow, 4> gemmRows(rt::GemmOp op);

/// The distinct GEMMs of fragments, in the order in which they first stand.
class GemmRows {
public:
  void add(mlir::func::FuncOp fragment);
  /// The number of a row of an op that was added.
  int64_t indexOf(const runtime::GemmInfo &row) const;
  const std::vector<runtime::GemmInfo> &rows() const { return all; }

private:
  std::vector<runtime::GemmInfo> all;
};

} // namespace mtc::target
#endif // MTC_PASSES_TARGET_GEMM_ROWS_H
