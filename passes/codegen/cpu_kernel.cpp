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
      auto [from, to] = mine(index(0), index(numRows(kernel)), 1);
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
  /// This part of [from, to), with ends at multiples of `unit` behind `from`.
  std::pair<Value, Value> mine(Value from, Value to, int64_t unit) {
    Value count = arith::SubIOp::create(b, to, from);
    Value units = arith::CeilDivUIOp::create(b, count, index(unit));
    auto end = [&](Value part) {
      Value before = arith::DivUIOp::create(
          b, arith::MulIOp::create(b, units, part), parts);
      Value at = arith::MulIOp::create(b, before, index(unit));
      return arith::AddIOp::create(b, from,
                                   arith::MinUIOp::create(b, at, count));
    };
    return {end(part), end(arith::AddIOp::create(b, part, index(1)))};
  }

  LogicalResult buildOne() {
    LogicalResult ok = success();
    emitIf(b, isFirst(),
           [&] { ok = rows.buildRows(index(0), index(numRows(kernel))); });
    return ok;
  }

  /// Sums are added in the order of rows.
  LogicalResult buildColumns() {
    auto [from, to] = mine(index(0), cols, unit);
    LogicalResult ok = success();
    emitFor(b, index(0), index(numRows(kernel)), index(1), {},
            [&, from = from, to = to](Value row, ValueRange) {
              ok = rows.buildColumns(row, from, to);
              return SmallVector<Value>{};
            });
    return ok;
  }

  LogicalResult buildBlocks() {
    Value count = index(numRows(kernel)), step = index(shape.rowsPerBlock);
    auto [fromColumn, toColumn] = mine(index(0), cols, unit);
    LogicalResult ok = success();
    emitFor(b, index(0), count, step, {},
            [&, from = fromColumn, to = toColumn](Value first, ValueRange) {
              Value end = arith::MinUIOp::create(
                  b, arith::AddIOp::create(b, first, step), count);
              ok = buildBlock(first, end, from, to);
              return SmallVector<Value>{};
            });
    return ok;
  }

  LogicalResult buildBlock(Value first, Value end, Value fromColumn,
                           Value toColumn) {
    BodyEmitter &body = rows.emitter();
    for (auto [i, sum] : llvm::enumerate(shape.sums))
      body.keepForLater(sum, workspace, first,
                        static_cast<int64_t>(i) * shape.rowsPerBlock *
                            numCols(kernel));
    auto [fromRow, toRow] = mine(first, end, 1);
    if (failed(rows.buildRows(fromRow, toRow)))
      return failure();
    meet();
    LogicalResult ok = success();
    emitFor(b, first, end, index(1), {}, [&](Value row, ValueRange) {
      body.startRow(row);
      ok = body.emitRowOps(0);
      rows.eachVector(fromColumn, toColumn, [&](Columns columns) {
        for (Operation *sum : shape.sums)
          body.emitKept(sum, columns);
      });
      return SmallVector<Value>{};
    });
    meet(); // before the next block takes the workspace
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

LogicalResult buildAlone(const Schedule &schedule, const CpuVectors &vectors,
                         func::FuncOp function, ImplicitLocOpBuilder &b) {
  CpuRows rows(schedule, vectors, function, b);
  if (failed(rows.begin()))
    return failure();
  auto index = [&](int64_t v) { return rows.emitter().index(v); };
  return rows.buildRows(index(0), index(numRows(schedule.kernel)));
}

/// Workspace, part and number of parts.
SmallVector<Type> teamParameters(OpBuilder &b, const CpuVectors &vectors) {
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

} // namespace

FailureOr<func::FuncOp> codegen::buildCpuKernel(rt::KernelOp kernel,
                                                const CpuVectors &vectors) {
  flattenPointwise(kernel);
  auto plan = schedule(kernel, kCpuRowBuffer);
  if (failed(plan))
    return failure();
  ImplicitLocOpBuilder b(kernel.getLoc(), kernel);
  auto function = makeKernelFunction(kernel, b, teamParameters(b, vectors));
  LogicalResult ok = vectors.threads > 1
                         ? TeamKernel(*plan, vectors, function, b).build()
                         : buildAlone(*plan, vectors, function, b);
  if (failed(ok))
    return function.erase(), failure();
  func::ReturnOp::create(b);
  markUnaliased(kernel, function);
  return function;
}
