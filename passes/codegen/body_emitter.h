//===- body_emitter.h - a kernel body at one place of a loop ----*- C++ -*-===//
//
// Emits the operations of a schedule for one row, and for one column or one
// vector of columns of it. Loops, and what becomes of reductions, belong to the
// target (cpu_kernel.cpp, gpu_builder.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_CODEGEN_BODY_EMITTER_H
#define MTC_PASSES_CODEGEN_BODY_EMITTER_H

#include "passes/codegen/philox.h"
#include "passes/codegen/schedule.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SmallBitVector.h"

#include <array>
#include <functional>

namespace mtc::codegen {

/// The columns for which a body is emitted.
struct Columns {
  mlir::Value first; ///< index of the (first) column
  int64_t lanes = 0; ///< columns from `first` on, or 0: one, as a scalar
  mlir::Value mask;  ///< vector of i1, or none: all lanes
};

class BodyEmitter {
public:
  /// `operands` are flat memrefs (bf16 and f16 as i16), `args` the i64
  /// arguments, `cols` the number of columns as an index.
  BodyEmitter(mlir::ImplicitLocOpBuilder &builder, const Schedule &schedule,
              mlir::ValueRange operands, mlir::ValueRange args,
              mlir::Value cols)
      : b(builder), s(schedule), operands(operands), args(args), cols(cols) {}

  /// Row buffers, one per `Schedule::scratch`: flat memrefs that are padded to
  /// `emitRandomRows`'s whole blocks.
  void setScratch(mlir::ValueRange buffers) {
    scratch.assign(buffers.begin(), buffers.end());
  }
  /// Rounds to bf16 by the target's instruction.
  void setNativeBf16(bool native) { nativeBf16 = native; }
  /// How the target draws random words; at the start they are laid out.
  void setPhilox(PhiloxForm form) { philox = form; }
  /// Does not round what bf16 holds, where it is only widened again.
  void setExactBf16(bool exact) { exactBf16 = exact; }
  /// Vectors are accessed at addresses that are multiples of their size, or of
  /// `bytes` where they are larger; 0 (as at the start): of an element's size.
  void setAccessBytes(int64_t bytes) { accessBytes = bytes; }
  /// What is accumulated to `operand` is added in f32 to `memory` instead, from
  /// element `start` on.
  void setPartialSum(int64_t operand, mlir::Value memory, int64_t start) {
    partialSums[operand] = {memory, start};
  }
  /// What `sink` takes is kept in `memory` (of i32) instead, for each row
  /// `numCols` words from those of row `firstRow` on, which begin at `start`.
  void keepForLater(mlir::Operation *sink, mlir::Value memory,
                    mlir::Value firstRow, int64_t start) {
    later[sink] = {memory, firstRow, start};
  }
  /// What keepForLater kept of `sink` in the row that has begun, whose values
  /// before the first pass are known: now it happens.
  void emitKept(mlir::Operation *sink, Columns columns);
  /// Sinks happen only where `condition` of them (i1) holds.
  void
  setSinkCondition(std::function<mlir::Value(mlir::Operation *)> condition) {
    sinkCondition = std::move(condition);
  }
  /// Adds `value` (f32) to column `at` of `operand`, a column or scalar one.
  void addToColumn(int64_t operand, mlir::Value at, mlir::Value value);
  /// The row that a scatter_add changes (i32), which must be known before the
  /// first pass.
  mlir::Value rowOfTable(rt::ScatterAddOp op);
  /// What does not depend on the row.
  mlir::LogicalResult emitUniform();
  /// Begins a row; forgets the values of the one before.
  void startRow(mlir::Value row);
  /// What is known of a row that has begun, to go on with it behind others.
  struct Row {
    mlir::Value row;
    llvm::DenseMap<mlir::Value, mlir::Value> values, randomShift;
  };
  Row leaveRow() const { return {row, rowValues, randomShift}; }
  void resumeRow(const Row &state) {
    row = state.row;
    rowValues = state.values;
    randomShift = state.randomShift;
  }
  /// Row-uniform values that are known after `depth` passes.
  mlir::LogicalResult emitRowOps(int depth);
  /// Fills the row buffers of random words, `lanes` blocks at a time or twice
  /// as many.
  void emitRandomRows(int64_t lanes);
  /// What becomes of a value before its reduction takes it.
  using Prepare = llvm::function_ref<mlir::Value(rt::RowReduceOp, mlir::Value)>;
  /// One pass at `columns`: computes, stores, and gives the value of each of
  /// the pass's reductions (f32, scalar or vector), prepared in front of all
  /// stores: LLVM moves a masked load to the select by the same mask that reads
  /// it, past a store to the same memory.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  emitPass(int pass, Columns columns, Prepare prepare = nullptr);
  /// Fetches the lines that the only pass of `ofRow` reads or writes at
  /// `columns`, and forgets the row that it was at.
  void emitPrefetch(mlir::Value ofRow, Columns columns);
  /// Fetches what pass `k` will read or write some lines further on, of what no
  /// pass before it has brought to a cache. At the end of a row these are lines
  /// of the next row, behind the last row of a thread those of another thread,
  /// or of nobody.
  void emitPrefetchAhead(int k, Columns columns);
  void setReduced(rt::RowReduceOp op, mlir::Value total) {
    rowValues[op.getResult()] = total;
  }
  /// Stores and accumulations that happen once per row.
  mlir::LogicalResult emitRowSinks();

  mlir::Value index(int64_t v);

private:
  /// Between f32 and `half`, a float type of 16 bits, held as i16.
  mlir::Value widen(mlir::Value bits, mlir::Type half);
  mlir::Value round(mlir::Value x, mlir::Type half);

  struct PartialSum {
    mlir::Value memory;
    int64_t start = 0;
  };

  /// The operands with an element for each row and column that a pass reads or
  /// writes, and those of them that it writes.
  struct Touched {
    llvm::SmallBitVector uses, writes;
  };
  Touched touchedBy(int pass) const;
  /// `lines` of a cache behind those at `columns`.
  void emitPrefetchOf(const Touched &touched, Columns columns, int64_t lines);

  struct Later {
    mlir::Value memory, firstRow;
    int64_t start = 0;
  };

  bool nativeBf16 = false, exactBf16 = false;
  PhiloxForm philox = PhiloxForm::LaidOut;
  int64_t accessBytes = 0;
  llvm::DenseMap<int64_t, PartialSum> partialSums;
  llvm::DenseMap<mlir::Operation *, Later> later; ///< looked up only
  std::function<mlir::Value(mlir::Operation *)> sinkCondition;
  using Values = llvm::DenseMap<mlir::Value, mlir::Value>;

  mlir::Type laneType(mlir::Type scalar, int64_t lanes);
  mlir::Value get(mlir::Value v, Columns columns, Values &values);
  mlir::Value spread(mlir::Value scalar, int64_t lanes);
  mlir::FailureOr<mlir::Value> emitOp(mlir::Operation *op, Columns columns,
                                      Values &values);
  mlir::FailureOr<mlir::Value> emitArithmetic(mlir::Operation *op,
                                              Columns columns, Values &values);
  mlir::Value emitConstantOp(mlir::Operation *op, int64_t lanes);
  mlir::Value emitIndex(rt::IndexOp op, Columns columns);
  mlir::Value emitRandom(rt::RandomOp op, Columns columns, Values &values);
  /// The words of blocks, which are columns of `words`, one after the other.
  mlir::Value inOrder(const std::array<mlir::Value, 4> &words);
  mlir::Value emitGather(rt::GatherOp op, Columns columns, Values &values);
  mlir::LogicalResult emitSink(mlir::Operation *op, Columns columns,
                               Values &values);
  void emitUnconditionalSink(mlir::Operation *op, Columns columns,
                             mlir::Value value);
  mlir::Value wordsAt(const Later &place, Columns columns);
  void emitPartialSum(mlir::Operation *op, Columns columns, mlir::Value value);
  void emitScatter(rt::ScatterAddOp op, Columns columns, mlir::Value value);
  mlir::Value randomStart(const RandomRow &row);
  /// Words of `width` blocks from the one of element `at` of a row on, whose
  /// first one is `block`, to that place of `buffer`.
  void emitBlocks(const PhiloxStream &stream, mlir::Value block, mlir::Value at,
                  int64_t width, mlir::Value buffer);
  mlir::Value reload(mlir::Value v, Columns columns);
  mlir::Value address(int64_t operand, Columns columns);
  mlir::Value load(mlir::Value memory, mlir::Value at, Columns columns);
  void store(mlir::Value value, mlir::Value memory, mlir::Value at,
             Columns columns);
  mlir::Value addTo(mlir::Value old, mlir::Value value, mlir::Type element);

  mlir::ImplicitLocOpBuilder &b;
  const Schedule &s;
  mlir::ValueRange operands, args;
  mlir::Value cols, row;
  llvm::SmallVector<mlir::Value> scratch;
  Values uniformValues, rowValues;
  llvm::DenseMap<mlir::Value, mlir::Value> randomShift;
};

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_BODY_EMITTER_H
