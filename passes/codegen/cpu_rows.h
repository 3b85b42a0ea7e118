//===- cpu_rows.h - rows of vectors -----------------------------*- C++ -*-===//
#ifndef MTC_PASSES_CODEGEN_CPU_ROWS_H
#define MTC_PASSES_CODEGEN_CPU_ROWS_H

#include "passes/codegen/body_emitter.h"
#include "passes/codegen/kernel_function.h"
#include "passes/codegen/loops.h"

namespace mtc::codegen {

/// Emits a kernel row by row:
///
///   for row { for pass { for (col; whole vectors) ...; masked rest } }
///
/// A reduction has four vector accumulators a0..a3 (fewer where a row has fewer
/// vectors). Vector i of the row, the masked rest included, is added to the
/// oldest of them, so each is touched every fourth vector and the additions
/// overlap. At the end (a0+a1)+(a2+a3), in order of age, is folded by halves.
///
/// A pass whose arithmetic is long takes four vectors at a time, which are one
/// to everybody but the machine: the results of one vector's chain of
/// operations come too late to keep a core busy. The accumulators are then one
/// such vector, too, which is the same sum. Lines further on are fetched
/// meanwhile: a core looks no further ahead than some hundred instructions,
/// which such arithmetic takes for a few lines.
class CpuRows {
public:
  /// For `function`, whose parameters are those of the kernel, and maybe more.
  CpuRows(const Schedule &schedule, const CpuVectors &vectors,
          mlir::func::FuncOp function, mlir::ImplicitLocOpBuilder &b);

  /// What comes in front of all rows: row buffers, and what is no row's.
  mlir::LogicalResult begin();
  /// Rows from `from` on, before `to`: the only one, where a kernel has one.
  mlir::LogicalResult buildRows(mlir::Value from, mlir::Value to);
  /// A row, and one whose lines are fetched meanwhile, if any.
  struct At {
    mlir::Value row, next;
  };
  /// The only pass, of columns from `from` on, before `to`, of some rows: at
  /// each place one row after the other. Its values may not be needed by other
  /// columns. Where arithmetic is long, as many vectors at a time as are said.
  mlir::LogicalResult buildColumns(llvm::ArrayRef<At> together,
                                   mlir::Value from, mlir::Value to,
                                   int64_t vectors = 4);
  /// Vectors of columns from `from` on, before `to`, and the rest masked.
  void eachVector(mlir::Value from, mlir::Value to,
                  llvm::function_ref<void(Columns)> emit);
  BodyEmitter &emitter() { return body; }

private:
  using Step = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      Columns, mlir::ValueRange)>;

  void allocateScratch();
  mlir::LogicalResult buildRow(mlir::Value row);
  mlir::LogicalResult buildPass(size_t k);
  /// Of the loop over the columns of a pass: long arithmetic gains nothing by
  /// fewer jumps, which takes LLVM long to find out.
  Unrolling unrollingOf(size_t k) const;
  /// Steps of `width` columns from `from` on, as many as fit, whose carried
  /// values are as wide; gives where the next column is.
  mlir::Value loopWhole(int64_t width, mlir::Value from, mlir::Value to,
                        llvm::SmallVector<mlir::Value> &carried, Step step);
  llvm::SmallVector<mlir::Value>
  loopStatic(int64_t from, int64_t to, llvm::SmallVector<mlir::Value> carried,
             Step step);
  llvm::SmallVector<mlir::Value>
  loopDynamic(mlir::Value from, mlir::Value to,
              llvm::SmallVector<mlir::Value> carried, Step step);
  mlir::Value mask(mlir::Value count);
  mlir::Value identity(rt::ReduceKind kind, int64_t width);
  /// Accumulators of a maximum hold the order of their numbers.
  mlir::Value startOf(rt::ReduceKind kind, int64_t width);
  mlir::Value accumulate(rt::ReduceKind kind, mlir::Value sum, mlir::Value v);
  mlir::Value endOf(rt::ReduceKind kind, mlir::Value sum);
  mlir::Value slice(mlir::Value v, int64_t first, int64_t width);
  mlir::Value inLanes(mlir::Value v, Columns columns, rt::ReduceKind kind);
  mlir::Value combine(rt::ReduceKind kind, mlir::Value x, mlir::Value y);
  mlir::Value fold(rt::ReduceKind kind, llvm::SmallVector<mlir::Value> parts);

  mlir::ImplicitLocOpBuilder &b;
  const Schedule &s;
  rt::KernelOp kernel;
  int64_t lanes;
  mlir::Value cols;
  BodyEmitter body;
  Unrolling unrolling = Unrolling::Free; ///< of loops over columns
};

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_CPU_ROWS_H
