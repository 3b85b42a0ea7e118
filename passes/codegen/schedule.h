//===- schedule.h - what a kernel computes in which pass --------*- C++ -*-===//
//
// A kernel's body is a list of scalar operations for the element at (row, col).
// A row is worked on in *passes* over its columns: a reduction needs a whole
// pass before its result is known. This header says which value is known when;
// it makes no code and is the same for every target.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_CODEGEN_SCHEDULE_H
#define MTC_PASSES_CODEGEN_SCHEDULE_H

#include "dialects/rt/Rt.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <string>

namespace mtc::codegen {

/// How a value varies: not at all, with the row, or with row and column.
enum class Level { Uniform, Row, Column };

struct ValueInfo {
  Level level = Level::Uniform;
  /// The number of passes over the columns that must be complete before the
  /// value can be computed.
  int depth = 0;
};

/// Where a column value that several passes need is kept between them.
struct Kept {
  int pass = 0;     ///< the pass that computes and writes it; -1: before pass 0
  int operand = -1; ///< full operand that it is stored to, or
  int scratch = -1; ///< row buffer of `cols` elements
};

/// Random words of a whole row, drawn block by block into a row buffer before
/// pass 0: element = sum of `base` + column.
struct RandomRow {
  rt::RandomOp op;
  llvm::SmallVector<mlir::Value> base; ///< i32, known before pass 0
  int scratch = 0;
  bool startsABlock = false; ///< the sum of `base` is a multiple of four
};

/// One pass over the columns of a row.
struct ColumnPass {
  llvm::SmallVector<rt::RowReduceOp> reduces; ///< in body order
  llvm::SmallVector<mlir::Operation *> sinks; ///< stores and the like, in order
  llvm::SmallVector<mlir::Value> spills;      ///< values written to row buffers
  /// Body operations to compute or to load again, in body order.
  llvm::SmallVector<mlir::Operation *> ops;
};

struct Schedule {
  rt::KernelOp kernel;
  llvm::DenseMap<mlir::Value, ValueInfo> info; ///< of every live value
  /// Loads of an operand that the body stored before: the stored value.
  llvm::DenseMap<mlir::Value, mlir::Value> forwarded;
  llvm::DenseMap<mlir::Value, Kept> kept;
  llvm::SmallVector<mlir::Value> scratch; ///< the values in row buffers
  llvm::SmallVector<RandomRow> randomRows;
  llvm::SmallVector<ColumnPass> passes;
  llvm::SmallVector<mlir::Operation *> rowSinks; ///< once per row, at its end
  /// Row-uniform operations, in body order, that are known before pass 0, ...
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *>> rowOps;
  llvm::SmallVector<mlir::Operation *> uniformOps; ///< once per call

  ValueInfo of(mlir::Value v) const { return info.lookup(resolve(v)); }
  mlir::Value resolve(mlir::Value v) const {
    auto found = forwarded.find(v);
    return found == forwarded.end() ? v : found->second;
  }
  rt::OperandAttr operand(int64_t index) const {
    auto k = kernel; // accessors of operations are not const
    return mlir::cast<rt::OperandAttr>(k.getOperandsInfo()[index]);
  }
};

/// Rows; columns, or -1: dynamic. (Accessors of attributes are unsigned.)
inline int64_t numRows(rt::KernelOp kernel) { return kernel.getRows(); }
inline int64_t numCols(rt::KernelOp kernel) { return kernel.getCols(); }

/// Schedules `kernel`. Row buffers are used only where a row has at most
/// `scratchLimit` elements (0: never). Fails with a diagnostic on the body if
/// it is not a kernel (a column value stored to a row operand, a load after an
/// accumulation to the same operand).
mlir::FailureOr<Schedule> schedule(rt::KernelOp kernel, int64_t scratchLimit);

/// The operand that a load, store, accumulate, gather or scatter names; -1 for
/// other operations.
int64_t operandIndex(mlir::Operation *op);
/// True for store, accumulate and scatter_add.
bool isSink(mlir::Operation *op);
/// The value that a sink writes.
mlir::Value sinkValue(mlir::Operation *op);
/// True for a sink that changes what other rows of `kernel` change, too.
bool isSum(rt::KernelOp kernel, mlir::Operation *sink);
/// True if pass `k` computes something that takes far longer than to load it.
bool isCostly(const Schedule &schedule, int k);
/// True if `element` (i32) is the column plus a multiple of four: then vectors
/// of columns begin with a block of Philox.
bool isColumnOfBlocks(mlir::Value element);
/// True if rows share nothing and no value is a row's alone.
bool isPointwise(const Schedule &schedule);

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_SCHEDULE_H
