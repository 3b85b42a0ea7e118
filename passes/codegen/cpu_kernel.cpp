//===- cpu_kernel.cpp - a kernel as a function for CPUs -------------------===//
#include "passes/codegen/cpu_rows.h"
#include "passes/codegen/cpu_team.h"
#include "passes/codegen/loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::codegen;

namespace {

/// Rows of which a thread reads the same columns side by side.
constexpr int64_t kRowsTogether = 4;

/// A kernel that each thread of a rank calls with its part.
class TeamKernel {
public:
  TeamKernel(const Schedule &schedule, const CpuVectors &vectors,
             func::FuncOp function, ImplicitLocOpBuilder &b)
      : b(b), s(schedule), kernel(s.kernel),
        shape(teamShape(schedule, vectors.threads)), unit(4 * vectors.lanes),
        function(function), rows(schedule, vectors, function, b),
        cols(emitCols(kernel, function, b)) {
    auto more = function.getArguments().take_back(3);
    workspace = more[0];
    part = arith::IndexCastOp::create(b, b.getIndexType(), more[1]);
    parts = arith::IndexCastOp::create(b, b.getIndexType(), more[2]);
  }

  LogicalResult build() {
    if (failed(rows.begin()))
      return failure();
    switch (shape.form) {
    case TeamForm::One:
      return buildOne();
    case TeamForm::Rows: {
      auto [from, to] = partOf(index(0), index(numRows(kernel)), 1, part);
      return rows.buildRows(from, to);
    }
    case TeamForm::Columns:
      return buildColumns();
    case TeamForm::Blocks:
      return buildBlocks();
    }
    return failure();
  }

private:
  /// Part `which` of [from, to), with ends at multiples of `unit` behind
  /// `from`.
  std::pair<Value, Value> partOf(Value from, Value to, int64_t unit,
                                 Value which) {
    Value count = arith::SubIOp::create(b, to, from);
    Value units = arith::CeilDivUIOp::create(b, count, index(unit));
    auto end = [&](Value part) {
      Value before = arith::DivUIOp::create(
          b, arith::MulIOp::create(b, units, part), parts);
      Value at = arith::MulIOp::create(b, before, index(unit));
      return arith::AddIOp::create(b, from,
                                   arith::MinUIOp::create(b, at, count));
    };
    Value begin = end(which);
    return {begin, end(arith::AddIOp::create(b, which, index(1)))};
  }

  LogicalResult buildOne() {
    LogicalResult ok = success();
    emitIf(b, isFirst(),
           [&] { ok = rows.buildRows(index(0), index(numRows(kernel))); });
    return ok;
  }

  /// Sums are added in the order of rows. A part of a row is too short for a
  /// core to see that it goes on, and to load ahead; so several rows are read
  /// side by side, unless arithmetic takes longer, and the next ones fetched.
  LogicalResult buildColumns() {
    auto [from, to] = partOf(index(0), cols, unit, part);
    int64_t together = isCostly(s, 0) ? 1 : kRowsTogether;
    int64_t count = numRows(kernel), whole = count / together * together;
    if (failed(buildColumns(0, whole, together, from, to)))
      return failure();
    return buildColumns(whole, count, 1, from, to);
  }

  LogicalResult buildColumns(int64_t firstRow, int64_t endRow, int64_t together,
                             Value from, Value to) {
    LogicalResult ok = success();
    if (firstRow < endRow)
      emitRolledFor(b, index(firstRow), index(endRow), index(together),
                    [&](Value row) {
                      SmallVector<CpuRows::At> group;
                      for (int64_t i = 0; i < together; ++i)
                        group.push_back(withNext(row, i, together));
                      if (endRow - firstRow <= together) // there is no next one
                        for (CpuRows::At &at : group)
                          at.next = {};
                      ok = rows.buildColumns(group, from, to);
                    });
    return ok;
  }

  /// Row `first` + i of a group, and the same one of the next group, or the
  /// last row of all behind the last group.
  CpuRows::At withNext(Value first, int64_t i, int64_t together) {
    Value row = arith::AddIOp::create(b, first, index(i));
    Value next = arith::AddIOp::create(b, row, index(together));
    return {row, arith::MinUIOp::create(b, next, index(numRows(kernel) - 1))};
  }

  LogicalResult buildBlocks() {
    Value count = index(numRows(kernel)), block = index(shape.rowsPerBlock);
    Value round = arith::MulIOp::create(b, parts, block);
    Value mine = arith::MulIOp::create(b, part, block);
    LogicalResult ok = success();
    emitRolledFor(b, index(0), count, round, [&](Value first) {
      auto within = [&](Value row) {
        return arith::MinUIOp::create(b, row, count);
      };
      Value begin = within(arith::AddIOp::create(b, first, mine));
      ok = buildBlock(begin, within(arith::AddIOp::create(b, begin, block)));
    });
    return ok;
  }

  /// This part's rows of a round, and its terms of sums over rows, which stay
  /// with the thread that made them: the sums are what goes from core to core.
  LogicalResult buildBlock(Value begin, Value end) {
    keepTerms(begin);
    if (failed(rows.buildRows(begin, end)))
      return failure();
    // In step i part p adds its terms to range i - p of the columns, behind
    // part p - 1. What the next round adds is behind its first meeting.
    LogicalResult ok = success();
    Value steps = arith::SubIOp::create(
        b, arith::AddIOp::create(b, parts, parts), index(1));
    emitRolledFor(b, index(0), steps, index(1), [&](Value step) {
      meet();
      Value range = arith::SubIOp::create(b, step, part);
      Value isOne = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, range,
                                          parts); // below 0 is large
      emitIf(b, isOne, [&] { ok = addTerms(begin, end, range); });
    });
    return ok;
  }

  /// The workspace has `rowsPerBlock` rows for each sum of each part.
  void keepTerms(Value begin) {
    int64_t rowsOfPart =
        std::ssize(shape.sums) * static_cast<int64_t>(shape.rowsPerBlock);
    Value before = arith::MulIOp::create(b, part, index(rowsOfPart));
    Value start = arith::SubIOp::create(b, begin, before);
    for (auto [i, sum] : llvm::enumerate(shape.sums))
      rows.emitter().keepForLater(sum, workspace, start,
                                  static_cast<int64_t>(i) * shape.rowsPerBlock *
                                      numCols(kernel));
  }

  LogicalResult addTerms(Value begin, Value end, Value range) {
    auto [from, to] = partOf(index(0), cols, unit, range);
    BodyEmitter &body = rows.emitter();
    LogicalResult ok = success();
    emitRolledFor(b, begin, end, index(1),
                  [&, from = from, to = to](Value row) {
                    body.startRow(row);
                    ok = body.emitRowOps(0);
                    rows.eachVector(from, to, [&](Columns columns) {
                      for (Operation *sum : shape.sums)
                        body.emitKept(sum, columns);
                    });
                  });
    return ok;
  }

  void meet() {
    constexpr llvm::StringLiteral name = "mtc_parallel_meet";
    auto module = function->getParentOfType<ModuleOp>();
    if (!module.lookupSymbol(name)) {
      OpBuilder outer = OpBuilder::atBlockEnd(module.getBody());
      auto type = LLVM::LLVMFunctionType::get(
          LLVM::LLVMVoidType::get(b.getContext()), {});
      LLVM::LLVMFuncOp::create(outer, module.getLoc(), name, type);
    }
    LLVM::CallOp::create(b, TypeRange(), name, ValueRange());
  }

  Value isFirst() {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, part, index(0));
  }
  Value index(int64_t v) { return arith::ConstantIndexOp::create(b, v); }

  ImplicitLocOpBuilder &b;
  const Schedule &s;
  rt::KernelOp kernel;
  TeamShape shape;
  int64_t unit; ///< columns of whole vectors that lie in no other cache line
  func::FuncOp function;
  CpuRows rows;
  Value cols, workspace, part, parts;
};

/// A kernel that is called for blocks of its rows and columns.
class TiledKernel {
public:
  TiledKernel(const Schedule &schedule, const CpuVectors &vectors,
              func::FuncOp function, ImplicitLocOpBuilder &b)
      : b(b), s(schedule), rows(schedule, vectors, function, b) {
    for (Value end : function.getArguments().take_back(4))
      ends.push_back(arith::IndexCastOp::create(b, b.getIndexType(), end));
  }

  LogicalResult build() {
    if (!isPointwise(s) || !s.randomRows.empty())
      return rt::KernelOp(s.kernel).emitOpError(
          "expected a tiled kernel whose elements "
          "know nothing of each other, found another");
    if (failed(rows.begin()))
      return failure();
    LogicalResult ok = success();
    emitRolledFor(b, ends[0], ends[1], rows.emitter().index(1), [&](Value row) {
      ok = rows.buildColumns(CpuRows::At{row, {}}, ends[2], ends[3], kVectors);
    });
    return ok;
  }

private:
  /// Of a panel of columns of the products that call it (gemm_own_tile.h).
  static constexpr int64_t kVectors = 3;

  ImplicitLocOpBuilder &b;
  const Schedule &s;
  CpuRows rows;
  SmallVector<Value> ends; ///< of rows and of columns: begin, end
};

LogicalResult buildAlone(const Schedule &schedule, const CpuVectors &vectors,
                         func::FuncOp function, ImplicitLocOpBuilder &b) {
  CpuRows rows(schedule, vectors, function, b);
  if (failed(rows.begin()))
    return failure();
  auto index = [&](int64_t v) { return rows.emitter().index(v); };
  return rows.buildRows(index(0), index(numRows(schedule.kernel)));
}

/// Of a tiled kernel the ends of a block, else workspace, part and number of
/// parts.
SmallVector<Type> moreParameters(rt::KernelOp kernel, OpBuilder &b,
                                 const CpuVectors &vectors) {
  if (kernel.getTiled())
    return SmallVector<Type>(4, b.getI64Type());
  if (vectors.threads <= 1)
    return {};
  auto words = MemRefType::get({int64_t(1) << 40}, b.getI32Type());
  return {words, b.getI64Type(), b.getI64Type()};
}

/// Read-only operands that no written one can share memory with: in-place use
/// is per element, and their element (row, col) is not the written one's.
void markUnaliased(rt::KernelOp kernel, func::FuncOp function) {
  for (auto [i, attr] : llvm::enumerate(kernel.getOperandsInfo())) {
    auto info = cast<rt::OperandAttr>(attr);
    bool shared = info.getMode() == rt::Mode::Full ||
                  info.getMode() == rt::Mode::Row || numRows(kernel) == 1 ||
                  numCols(kernel) == 1 ||
                  (info.getMode() == rt::Mode::Periodic &&
                   info.getExtent() >= numRows(kernel));
    bool writes =
        llvm::any_of(kernel.getBody().front(), [i = int64_t(i)](Operation &op) {
          return isSink(&op) && operandIndex(&op) == i;
        });
    if (!shared && !writes)
      function.setArgAttr(i, "llvm.noalias",
                          UnitAttr::get(kernel.getContext()));
  }
}

LogicalResult build(const Schedule &plan, const CpuVectors &vectors,
                    func::FuncOp function, ImplicitLocOpBuilder &b) {
  rt::KernelOp kernel = plan.kernel;
  if (kernel.getTiled())
    return TiledKernel(plan, vectors, function, b).build();
  return vectors.threads > 1 ? TeamKernel(plan, vectors, function, b).build()
                             : buildAlone(plan, vectors, function, b);
}

} // namespace

FailureOr<func::FuncOp> codegen::buildCpuKernel(rt::KernelOp kernel,
                                                const CpuVectors &vectors) {
  if (!kernel.getTiled())
    flattenPointwise(kernel);
  // A block has too few columns for a row of random words.
  auto plan = schedule(kernel, kernel.getTiled() ? 0 : kCpuRowBuffer);
  if (failed(plan))
    return failure();
  ImplicitLocOpBuilder b(kernel.getLoc(), kernel);
  auto function =
      makeKernelFunction(kernel, b, moreParameters(kernel, b, vectors));
  LogicalResult ok = build(*plan, vectors, function, b);
  if (failed(ok))
    return function.erase(), failure();
  func::ReturnOp::create(b);
  markUnaliased(kernel, function);
  return function;
}
