//===- gpu_kernel.cpp - a thread per element, a block per row -------------===//
//
// Kernels without reductions run one thread per element. Others give each row
// to a block, whose threads take every ntid-th column in every pass, so that a
// thread finds again what it stored itself. Kernels that accumulate over rows
// run in block 0 alone, rows in order: the sums keep the order of the rows.
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/body_emitter.h"
#include "passes/codegen/elementary.h"
#include "passes/codegen/gpu_support.h"
#include "passes/codegen/kernel_function.h"
#include "passes/codegen/loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace mtc;
using namespace mtc::codegen;

namespace {

class GpuKernel {
public:
  GpuKernel(const Schedule &schedule, func::FuncOp function,
            ImplicitLocOpBuilder &b)
      : b(b), s(schedule), kernel(s.kernel),
        cols(emitCols(kernel, function, b)),
        body(
            b, s,
            function.getArguments().take_front(kernel.getOperandsInfo().size()),
            function.getArguments().drop_front(kernel.getOperandsInfo().size()),
            cols) {
    thread = call(kGpuThread), threads = call(kGpuThreads);
    block = call(kGpuBlock), blocks = call(kGpuBlocks);
  }

  LogicalResult build() {
    if (failed(body.emitUniform()))
      return failure();
    if (accumulatesOverRows(kernel)) {
      Value first = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, block,
                                          body.index(0));
      emitIf(b, first, [&] { buildRows(body.index(0), body.index(1)); });
    } else if (isPointwise()) {
      buildElements();
    } else {
      buildRows(block, blocks);
    }
    return ok;
  }

private:
  /// Nothing is shared by the elements of a row.
  bool isPointwise() {
    return s.passes.size() == 1 && s.passes[0].reduces.empty() &&
           s.rowSinks.empty();
  }

  Value call(StringRef name) {
    Type i64 = b.getI64Type();
    Value v = func::CallOp::create(b, name, TypeRange{i64}, ValueRange{})
                  .getResult(0);
    return arith::IndexCastUIOp::create(b, b.getIndexType(), v);
  }

  void buildElements() {
    Value total = arith::MulIOp::create(b, cols, body.index(numRows(kernel)));
    Value first = arith::AddIOp::create(
        b, arith::MulIOp::create(b, block, threads), thread);
    Value step = arith::MulIOp::create(b, blocks, threads);
    emitFor(b, first, total, step, {}, [&](Value element, ValueRange) {
      body.startRow(arith::DivUIOp::create(b, element, cols));
      Value col = arith::RemUIOp::create(b, element, cols);
      check(body.emitRowOps(0));
      check(body.emitPass(0, {col, 0, {}}));
      return SmallVector<Value>{};
    });
  }

  void buildRows(Value from, Value step) {
    emitFor(b, from, body.index(numRows(kernel)), step, {},
            [&](Value row, ValueRange) {
              body.startRow(row);
              check(body.emitRowOps(0));
              for (size_t k = 0; k < s.passes.size(); ++k) {
                buildPass(k);
                check(body.emitRowOps(k + 1));
              }
              if (!s.rowSinks.empty()) {
                Value leader = arith::CmpIOp::create(
                    b, arith::CmpIPredicate::eq, thread, body.index(0));
                emitIf(b, leader, [&] { check(body.emitRowSinks()); });
              }
              return SmallVector<Value>{};
            });
  }

  void buildPass(int k) {
    SmallVector<rt::RowReduceOp> reduces = s.passes[k].reduces;
    SmallVector<Value> carried;
    for (rt::RowReduceOp op : reduces)
      carried.push_back(
          emitConstant(b, b.getF32Type(), isSum(op) ? -0.0 : -INFINITY));
    carried = emitFor(
        b, thread, cols, threads, carried, [&](Value col, ValueRange old) {
          auto values = body.emitPass(k, {col, 0, {}});
          SmallVector<Value> next(old.begin(), old.end());
          if (check(values))
            for (auto [i, op] : llvm::enumerate(reduces))
              next[i] = isSum(op)
                            ? arith::AddFOp::create(b, old[i], (*values)[i])
                                  .getResult()
                            : arith::MaximumFOp::create(b, old[i], (*values)[i])
                                  .getResult();
          return next;
        });
    for (auto [i, op] : llvm::enumerate(reduces)) {
      StringRef name = isSum(op) ? kGpuSum : kGpuMax;
      body.setReduced(op, func::CallOp::create(
                              b, name, TypeRange{b.getF32Type()}, carried[i])
                              .getResult(0));
    }
  }

  static bool isSum(rt::RowReduceOp op) {
    return op.getKind() == rt::ReduceKind::Sum;
  }

  template <typename T> bool check(const T &result) {
    if (failed(result))
      ok = failure();
    return succeeded(result);
  }

  ImplicitLocOpBuilder &b;
  const Schedule &s;
  rt::KernelOp kernel;
  Value cols;
  BodyEmitter body;
  Value thread, threads, block, blocks;
  LogicalResult ok = success();
};

} // namespace

FailureOr<func::FuncOp> codegen::buildGpuKernel(rt::KernelOp kernel) {
  auto plan = schedule(kernel, /*scratchLimit=*/0);
  if (failed(plan))
    return failure();
  ImplicitLocOpBuilder b(kernel.getLoc(), kernel);
  auto function = makeKernelFunction(kernel, b);
  LogicalResult ok = GpuKernel(*plan, function, b).build();
  if (failed(ok))
    return function.erase(), failure();
  func::ReturnOp::create(b);
  return function;
}
