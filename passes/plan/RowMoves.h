//===- RowMoves.h - kernels that move rows ----------------------*- C++ -*-===//
//
// A kernel that makes a tensor, row by row, out of rows of others. Which row it
// reads is arithmetic on the number of the row that it makes, and on the rank's
// coordinate. Collectives are packed and unpacked by such kernels, and queries,
// keys and values put into one tensor and taken out of it.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_PLAN_ROWMOVES_H
#define MTC_PASSES_PLAN_ROWMOVES_H

#include "passes/plan/KernelPool.h"

#include "mlir/IR/PatternMatch.h"

#include <functional>
#include <vector>

namespace mtc::passes {

/// Writes the arithmetic on row numbers, i32, in a kernel's body. Numbers are
/// not negative but for what `add` and `times` make, which only says that there
/// is no such row.
class RowArithmetic {
public:
  RowArithmetic(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}
  mlir::Value constant(int64_t n);
  mlir::Value times(mlir::Value v, int64_t n); ///< v itself if n is 1
  mlir::Value times(mlir::Value v, mlir::Value w);
  mlir::Value add(mlir::Value v, mlir::Value w);
  mlir::Value over(mlir::Value v, int64_t n);    ///< v / n, rounded down
  mlir::Value modulo(mlir::Value v, int64_t n);  ///< v mod n
  mlir::Value isBelow(mlir::Value v, int64_t n); ///< i1
  /// condition ? v : w
  mlir::Value where(mlir::Value condition, mlir::Value v, mlir::Value w);
  /// Argument `index` of the kernel.
  mlir::Value argument(int64_t index);

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// Rows that a kernel may read.
struct RowSource {
  mlir::Value tensor;
  int64_t rows;
  /// Given the number of the row to make: the row to read; one that is not
  /// there is zeros.
  std::function<mlir::Value(RowArithmetic &, mlir::Value)> row;
  /// Given the same: i1, whether the row to make comes from here; of the last
  /// source, which has all that no other has, empty.
  std::function<mlir::Value(RowArithmetic &, mlir::Value)> isHere = {};
  /// As `row`: further rows, which are added to that one, in this order. Sums
  /// are in f32, rounded once.
  std::vector<std::function<mlir::Value(RowArithmetic &, mlir::Value)>>
      addends = {};
};

/// What a kernel makes: rows of `cols` elements of `type`.
struct RowsToMake {
  mlir::RankedTensorType type;
  int64_t cols;
  /// The kernel's arguments, such as a multiple of the rank's coordinate.
  llvm::SmallVector<rt::Affine> arguments = {};
};

/// Adds the kernel and launches it in the place of `op`, from which it comes.
mlir::Value moveRows(mlir::Operation *op, const RowsToMake &made,
                     llvm::ArrayRef<RowSource> sources, KernelPool &pool,
                     mlir::PatternRewriter &b);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_ROWMOVES_H
