//===- cpu_rows.cpp - rows of vectors -------------------------------------===//
#include "passes/codegen/cpu_rows.h"

#include "passes/codegen/cpu_team.h"
#include "passes/codegen/elementary.h"
#include "passes/codegen/loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/SaveAndRestore.h"

#include <cmath>

using namespace mlir;
using namespace mtc;
using namespace mtc::codegen;

static constexpr int64_t kAccumulators = 4;

CpuRows::CpuRows(const Schedule &schedule, const CpuVectors &vectors,
                 func::FuncOp function, ImplicitLocOpBuilder &b)
    : b(b), s(schedule), kernel(s.kernel), lanes(vectors.lanes),
      cols(emitCols(kernel, function, b)),
      body(b, s,
           function.getArguments().take_front(kernel.getOperandsInfo().size()),
           function.getArguments()
               .drop_front(kernel.getOperandsInfo().size())
               .take_front(kernel.getArgs()),
           cols) {
  body.setNativeBf16(vectors.nativeBf16);
  // No other target has so many lanes.
  body.setPhilox(vectors.lanes * 32 == 512 ? PhiloxForm::Avx512
                                           : PhiloxForm::Rolled);
  body.setExactBf16(true);
}

LogicalResult CpuRows::begin() {
  allocateScratch();
  return body.emitUniform();
}

LogicalResult CpuRows::buildRows(Value from, Value to) {
  if (numRows(kernel) == 1)
    return buildRow(from);
  LogicalResult ok = success();
  emitRolledFor(b, from, to, body.index(1),
                [&](Value row) { ok = buildRow(row); });
  return ok;
}

LogicalResult CpuRows::buildColumns(ArrayRef<At> together, Value from, Value to,
                                    int64_t vectors) {
  SmallVector<BodyEmitter::Row> states;
  for (At at : together) {
    body.startRow(at.row);
    if (failed(body.emitRowOps(0)))
      return failure();
    states.push_back(body.leaveRow());
  }
  LogicalResult ok = success();
  auto emit = [&](Columns columns) {
    for (const BodyEmitter::Row &state : states) {
      body.resumeRow(state);
      if (failed(body.emitPass(0, columns)))
        ok = failure();
    }
    for (At at : together)
      if (at.next)
        body.emitPrefetch(at.next, columns);
  };
  llvm::SaveAndRestore scope(unrolling, unrollingOf(0));
  if (isCostly(s, 0)) {
    SmallVector<Value> none;
    from = loopWhole(vectors * lanes, from, to, none,
                     [&](Columns columns, ValueRange) {
                       emit(columns);
                       return SmallVector<Value>{};
                     });
  }
  eachVector(from, to, emit);
  return ok;
}

void CpuRows::allocateScratch() {
  int64_t block = 4 * lanes;
  int64_t size = (numCols(kernel) + 3 + block - 1) / block * block;
  SmallVector<Value> buffers;
  for (Value v : s.scratch) {
    auto type = MemRefType::get({size}, v.getType());
    buffers.push_back(
        memref::AllocaOp::create(b, type, b.getI64IntegerAttr(64)));
  }
  body.setScratch(buffers);
}

LogicalResult CpuRows::buildRow(Value row) {
  body.startRow(row);
  if (failed(body.emitRowOps(0)))
    return failure();
  body.emitRandomRows(lanes);
  for (size_t k = 0; k < s.passes.size(); ++k)
    if (failed(buildPass(k)) || failed(body.emitRowOps(k + 1)))
      return failure();
  return body.emitRowSinks();
}

Unrolling CpuRows::unrollingOf(size_t k) const {
  return isCostly(s, static_cast<int>(k)) ? Unrolling::Never : Unrolling::Free;
}

LogicalResult CpuRows::buildPass(size_t k) {
  llvm::SaveAndRestore scope(unrolling, unrollingOf(k));
  SmallVector<rt::RowReduceOp> reduces = s.passes[k].reduces;
  int64_t staticCols = numCols(kernel);
  int64_t vectors =
      staticCols < 0 ? kAccumulators : (staticCols + lanes - 1) / lanes;
  int64_t accumulators = std::min(kAccumulators, vectors);
  LogicalResult ok = success();
  // One vector of columns; its values go to the oldest accumulators.
  auto step = [&](Columns columns, ValueRange old) {
    auto values = body.emitPass(static_cast<int>(k), columns,
                                [&](rt::RowReduceOp op, Value v) {
                                  return inLanes(v, columns, op.getKind());
                                });
    if (columns.lanes && !columns.mask)
      body.emitPrefetchAhead(static_cast<int>(k), columns);
    SmallVector<Value> next(old.begin(), old.end());
    if (failed(values)) {
      ok = failure();
      return next;
    }
    for (auto [i, op] : llvm::enumerate(reduces))
      next[i] = accumulate(op.getKind(), next[i], (*values)[i]);
    std::rotate(next.begin(), next.begin() + reduces.size(), next.end());
    return next;
  };
  SmallVector<Value> carried;
  Value at = body.index(0);
  int64_t wide = kAccumulators * lanes, done = 0;
  if (isCostly(s, static_cast<int>(k)) &&
      (staticCols < 0 || staticCols >= wide)) {
    SmallVector<Value> sums;
    for (rt::RowReduceOp op : reduces)
      sums.push_back(startOf(op.getKind(), wide));
    at = loopWhole(wide, at, cols, sums, step);
    done = staticCols / wide * wide;
    for (int64_t a = 0; a < accumulators; ++a)
      for (Value sum : sums)
        carried.push_back(slice(sum, a * lanes, lanes));
  } else {
    for (int64_t a = 0; a < accumulators; ++a)
      for (rt::RowReduceOp op : reduces)
        carried.push_back(startOf(op.getKind(), lanes));
  }
  carried = staticCols < 0 ? loopDynamic(at, cols, carried, step)
                           : loopStatic(done, staticCols, carried, step);
  for (auto [i, op] : llvm::enumerate(reduces)) {
    SmallVector<Value> parts;
    for (int64_t a = 0; a < accumulators; ++a)
      parts.push_back(endOf(op.getKind(), carried[a * reduces.size() + i]));
    body.setReduced(op, fold(op.getKind(), parts));
  }
  return ok;
}

Value CpuRows::loopWhole(int64_t width, Value from, Value to,
                         SmallVector<Value> &carried, Step step) {
  Value count = arith::SubIOp::create(b, to, from);
  Value rest = arith::RemUIOp::create(b, count, body.index(width));
  Value end = arith::SubIOp::create(b, to, rest);
  carried = emitFor(
      b, from, end, body.index(width), carried,
      [&](Value col, ValueRange old) {
        return step({col, width, {}}, old);
      },
      unrolling);
  return end;
}

SmallVector<Value> CpuRows::loopStatic(int64_t from, int64_t to,
                                       SmallVector<Value> carried, Step step) {
  int64_t whole = to / lanes * lanes;
  if (whole == from + lanes)
    carried = step({body.index(from), lanes, {}}, carried);
  else if (whole > from)
    carried = emitFor(
        b, body.index(from), body.index(whole), body.index(lanes), carried,
        [&](Value col, ValueRange old) {
          return step({col, lanes, {}}, old);
        },
        unrolling);
  if (whole == to)
    return carried;
  // One column is a scalar: cheaper, and LLVM 22 miscompiles a truncation
  // that is stored under a constant mask of one lane (it stores four bytes).
  if (to - whole == 1)
    return step({body.index(whole), 0, {}}, carried);
  return step({body.index(whole), lanes, mask(body.index(to - whole))},
              carried);
}

SmallVector<Value> CpuRows::loopDynamic(Value from, Value to,
                                        SmallVector<Value> carried, Step step) {
  Value whole = loopWhole(lanes, from, to, carried, step);
  Value rest = arith::SubIOp::create(b, to, whole);
  Value any =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, rest, body.index(0));
  return emitIfElse(b, any, carried, [&] {
    return step({whole, lanes, mask(rest)}, carried);
  });
}

void CpuRows::eachVector(Value from, Value to,
                         llvm::function_ref<void(Columns)> emit) {
  loopDynamic(from, to, {}, [&](Columns columns, ValueRange) {
    emit(columns);
    return SmallVector<Value>{};
  });
}

Value CpuRows::mask(Value count) {
  auto type = VectorType::get({lanes}, b.getI1Type());
  return vector::CreateMaskOp::create(b, type, ValueRange{count});
}

Value CpuRows::slice(Value v, int64_t first, int64_t width) {
  auto places = llvm::to_vector(llvm::seq<int64_t>(first, first + width));
  return vector::ShuffleOp::create(b, v, v, places);
}

Value CpuRows::identity(rt::ReduceKind kind, int64_t width) {
  // -0 + x is x for every x; 0 would turn a row of -0 into 0.
  double v = kind == rt::ReduceKind::Sum ? -0.0 : -INFINITY;
  return emitConstant(b, VectorType::get({width}, b.getF32Type()), v);
}

Value CpuRows::startOf(rt::ReduceKind kind, int64_t width) {
  Value v = identity(kind, width);
  return kind == rt::ReduceKind::Max ? emitOrder(b, v) : v;
}

Value CpuRows::accumulate(rt::ReduceKind kind, Value sum, Value v) {
  return kind == rt::ReduceKind::Max
             ? arith::MaxUIOp::create(b, sum, emitOrder(b, v)).getResult()
             : combine(kind, sum, v);
}

Value CpuRows::endOf(rt::ReduceKind kind, Value sum) {
  return kind == rt::ReduceKind::Max ? emitFromOrder(b, sum) : sum;
}

/// A vector with the identity in the lanes that are no columns.
Value CpuRows::inLanes(Value v, Columns columns, rt::ReduceKind kind) {
  if (!columns.lanes)
    return vector::InsertOp::create(b, v, identity(kind, lanes), int64_t(0));
  return columns.mask ? arith::SelectOp::create(b, columns.mask, v,
                                                identity(kind, lanes))
                            .getResult()
                      : v;
}

Value CpuRows::combine(rt::ReduceKind kind, Value x, Value y) {
  if (kind == rt::ReduceKind::Sum)
    return arith::AddFOp::create(b, x, y);
  return arith::MaximumFOp::create(b, x, y);
}

/// The fixed tree: neighbours among the accumulators, then halves of lanes.
Value CpuRows::fold(rt::ReduceKind kind, SmallVector<Value> parts) {
  while (parts.size() > 1) {
    SmallVector<Value> pairs;
    for (size_t i = 0; i + 1 < parts.size(); i += 2)
      pairs.push_back(combine(kind, parts[i], parts[i + 1]));
    if (parts.size() % 2)
      pairs.push_back(parts.back());
    parts = pairs;
  }
  Value v = parts[0];
  for (int64_t width = lanes / 2; width >= 1; width /= 2) {
    Value low = slice(v, 0, width), high = slice(v, width, width);
    v = combine(kind, low, high);
  }
  return vector::ExtractOp::create(b, v, int64_t(0));
}
