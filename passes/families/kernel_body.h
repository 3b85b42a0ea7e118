//===- kernel_body.h - what a family's body function sees -------*- C++ -*-===//
//
// A body function emits one op as scalar arithmetic for the element at the
// current (row, column) of a kernel. It never sees vectors, loops or memory:
// those are the generator's. Values that an op reads from outside the cluster
// are loaded for it; `rowSum` and `rowMax` reduce over the columns.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_FAMILIES_KERNEL_BODY_H
#define MTC_PASSES_FAMILIES_KERNEL_BODY_H

#include "dialects/rt/Affine.h"
#include "passes/families/family.h"

#include <string>

namespace mtc::families {

/// Operands, which a call gives in braces, as in `c.mul({c.add({x, y}), z})`:
/// what stands there is evaluated, and so emitted, from left to right. Of
/// arguments in parentheses every C++ compiler has its own order, and so had
/// every plan.
struct BinaryOperands {
  mlir::Value a, b;
};
struct TernaryOperands {
  mlir::Value a, b, c;
};

class BodyContext {
public:
  BodyContext(mlir::OpBuilder &builder, mlir::Location loc, int64_t rows,
              int64_t cols)
      : builder(builder), loc(loc), rows(rows), cols(cols) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;
  int64_t rows, cols;        ///< of the kernel's domain; cols -1: dynamic
  int64_t rowsPerSample = 1; ///< rows of one sample (dimension 0 of the domain)
  bool contractsCols = false;   ///< this op sums over the columns
  bool perRow = false;          ///< this op's results have an element per row
  rt::Affine sampleBase;        ///< absolute id of the first local sample
  std::vector<rt::Affine> args; ///< the kernel's arguments so far
  /// Kernel operand of this op's table operand or table result, or -1.
  int64_t tableOperand = -1, tableResult = -1;
  /// Kernel operand that holds a field of the step block.
  std::function<mlir::Value(llvm::StringRef)> stepField;

  mlir::Value constant(double value);
  mlir::Value constantI32(int64_t value);
  mlir::Value add(BinaryOperands x); ///< a + b
  mlir::Value sub(BinaryOperands x); ///< a - b
  mlir::Value mul(BinaryOperands x);
  mlir::Value div(BinaryOperands x); ///< a / b
  /// a·b + c, rounded once.
  mlir::Value fma(TernaryOperands x);
  mlir::Value select(TernaryOperands x);  ///< a ? b : c
  mlir::Value equal(BinaryOperands x);    ///< i32
  mlir::Value lessThan(BinaryOperands x); ///< i32, signed
  mlir::Value rowSum(mlir::Value v);
  mlir::Value rowMax(mlir::Value v);
  mlir::Value row(); ///< i32
  mlir::Value col(); ///< i32
  /// Number of the element in this op's first result, row by row; i32.
  mlir::Value element();
  /// The column, or any local index, moved by the shard's offset of `op`
  /// (dist.index_axis, dist.index_stride) and by that of its piece
  /// (dist.piece_axis, dist.piece): an index of the unpartitioned tensor.
  mlir::Value toGlobal(mlir::Operation *op, mlir::Value localIndex);
  mlir::Value toLocal(mlir::Operation *op, mlir::Value globalIndex);
  /// `extent` times the rank's coordinate on the axis that splits a dimension
  /// which `op` uses by index, i32; null if none does.
  mlir::Value shardOffset(mlir::Operation *op, int64_t extent);
  /// What is `at` units behind the start of the rank's part, `unitsPerIndex` of
  /// which each index of the split dimension has, counted from the start of the
  /// whole; `at` itself where `op` has no dist.piece_axis. i32.
  mlir::Value placePieces(mlir::Operation *op, mlir::Value at,
                          int64_t unitsPerIndex);
  /// An i64 argument; equal ones are shared.
  mlir::Value arg(const rt::Affine &affine);
  /// An element of the table, in f32.
  mlir::Value gather(mlir::Value row, mlir::Type element);
  void scatterAdd(mlir::Value row, mlir::Value value);
};

/// Attributes that `partition` puts on ops which use indices of a dimension
/// that is split in equal parts: both, or none.
inline constexpr llvm::StringLiteral indexAxisAttr = "dist.index_axis";
inline constexpr llvm::StringLiteral indexStrideAttr = "dist.index_stride";
/// Likewise of one that is split in a head and a tail (mesh.h): the axis, and
/// the indices of a piece.
inline constexpr llvm::StringLiteral pieceAxisAttr = "dist.piece_axis";
inline constexpr llvm::StringLiteral pieceAttr = "dist.piece";
/// Beside them on numbered ops: which dimension is split so.
inline constexpr llvm::StringLiteral indexDimAttr = "dist.index_dim";
inline constexpr llvm::StringLiteral pieceDimAttr = "dist.piece_dim";

/// Fails, with a diagnostic per op in `root`, where these attributes name no
/// axis that splits tensors: kernels take a rank's coordinate by its name.
mlir::LogicalResult checkIndexAxes(mlir::Operation *root);

} // namespace mtc::families
#endif // MTC_PASSES_FAMILIES_KERNEL_BODY_H
