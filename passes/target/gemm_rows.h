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
#include "mtc/runtime/abi.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <compare>
#include <vector>

namespace mtc::target {

/// The element type of a tensor or view.
MtcDtype dtypeOf(mlir::Value value);

/// c[m, n] = op(a)·op(b), plus c with `beta`.
struct GemmRow {
  int64_t m = 0, n = 0, k = 0;
  bool ta = false, tb = false, beta = false;
  MtcDtype ab = MTC_F32, c = MTC_F32; ///< of a and b, and of c
  int64_t scratch = 0;                ///< bytes that the op has; 0 on tensors
  auto operator<=>(const GemmRow &) const = default;
};

GemmRow gemmRow(rt::GemmOp op);

/// The distinct GEMMs of fragments, in the order in which they first stand.
class GemmRows {
public:
  void add(mlir::func::FuncOp fragment);
  /// The number of the row of an op that was added.
  int64_t indexOf(rt::GemmOp op) const;
  const std::vector<GemmRow> &rows() const { return all; }

private:
  std::vector<GemmRow> all;
};

} // namespace mtc::target
#endif // MTC_PASSES_TARGET_GEMM_ROWS_H
