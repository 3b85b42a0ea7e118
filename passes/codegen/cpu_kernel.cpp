//===- cpu_kernel.cpp - rows of vectors -----------------------------------===//
//
// for row { for pass { for (col; whole vectors) ...; masked rest } }
//
// A reduction has four vector accumulators a0..a3 (fewer where a row has fewer
// vectors). Vector i of the row, the masked rest included, is added to the
// oldest of them, so each is touched every fourth vector and the additions
// overlap. At the end (a0+a1)+(a2+a3), in order of age, is folded by halves.
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/body_emitter.h"
#include "passes/codegen/elementary.h"
#include "passes/codegen/kernel_function.h"
#include "passes/codegen/loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;
using namespace mtc;
using namespace mtc::codegen;

namespace {

/// Row buffers live on the stack: 64 KiB each at most.
constexpr int64_t kScratchLimit = 16384;
constexpr int64_t kAccumulators = 4;

class CpuKernel {
public:
  CpuKernel(const Schedule &schedule, const CpuVectors &vectors,
            func::FuncOp function, ImplicitLocOpBuilder &b)
      : b(b), s(schedule), kernel(s.kernel), lanes(vectors.lanes),
        cols(emitCols(kernel, function, b)),
        body(
            b, s,
            function.getArguments().take_front(kernel.getOperandsInfo().size()),
            function.getArguments().drop_front(kernel.getOperandsInfo().size()),
            cols) {
    body.setNativeBf16(vectors.nativeBf16);
  }

  LogicalResult build() {
    allocateScratch();
    if (failed(body.emitUniform()))
      return failure();
    if (numRows(kernel) == 1)
      return buildRow(body.index(0));
    LogicalResult ok = success();
    emitFor(b, body.index(0), body.index(numRows(kernel)), body.index(1), {},
            [&](Value row, ValueRange) {
              ok = buildRow(row);
              return SmallVector<Value>{};
            });
    return ok;
  }

private:
  void allocateScratch() {
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

  LogicalResult buildRow(Value row) {
    body.startRow(row);
    if (failed(body.emitRowOps(0)))
      return failure();
    body.emitRandomRows(lanes);
    for (size_t k = 0; k < s.passes.size(); ++k)
      if (failed(buildPass(k)) || failed(body.emitRowOps(k + 1)))
        return failure();
    return body.emitRowSinks();
  }

  LogicalResult buildPass(int k) {
    SmallVector<rt::RowReduceOp> reduces = s.passes[k].reduces;
    int64_t staticCols = numCols(kernel);
    int64_t vectors =
        staticCols < 0 ? kAccumulators : (staticCols + lanes - 1) / lanes;
    int64_t accumulators = std::min(kAccumulators, vectors);
    SmallVector<Value> carried;
    for (int64_t a = 0; a < accumulators; ++a)
      for (rt::RowReduceOp op : reduces)
        carried.push_back(identity(op.getKind()));
    LogicalResult ok = success();
    // One vector of columns; its values go to the oldest accumulators.
    auto step = [&](Columns columns, ValueRange old) {
      auto values = body.emitPass(k, columns, [&](rt::RowReduceOp op, Value v) {
        return inLanes(v, columns, op.getKind());
      });
      SmallVector<Value> next(old.begin(), old.end());
      if (failed(values)) {
        ok = failure();
        return next;
      }
      for (auto [i, op] : llvm::enumerate(reduces))
        next[i] = combine(op.getKind(), next[i], (*values)[i]);
      std::rotate(next.begin(), next.begin() + reduces.size(), next.end());
      return next;
    };
    carried = staticCols < 0 ? loopDynamic(carried, step)
                             : loopStatic(staticCols, carried, step);
    for (auto [i, op] : llvm::enumerate(reduces)) {
      SmallVector<Value> parts;
      for (int64_t a = 0; a < accumulators; ++a)
        parts.push_back(carried[a * reduces.size() + i]);
      body.setReduced(op, fold(op.getKind(), parts));
    }
    return ok;
  }

  using Step = llvm::function_ref<SmallVector<Value>(Columns, ValueRange)>;

  SmallVector<Value> loopStatic(int64_t count, SmallVector<Value> carried,
                                Step step) {
    int64_t whole = count / lanes * lanes;
    if (whole == lanes)
      carried = step({body.index(0), lanes, {}}, carried);
    else if (whole > 0)
      carried = emitFor(b, body.index(0), body.index(whole), body.index(lanes),
                        carried, [&](Value col, ValueRange old) {
                          return step({col, lanes, {}}, old);
                        });
    if (whole == count)
      return carried;
    // One column is a scalar: cheaper, and LLVM 22 miscompiles a truncation
    // that is stored under a constant mask of one lane (it stores four bytes).
    if (count - whole == 1)
      return step({body.index(whole), 0, {}}, carried);
    return step({body.index(whole), lanes, mask(body.index(count - whole))},
                carried);
  }

  SmallVector<Value> loopDynamic(SmallVector<Value> carried, Step step) {
    Value rest = arith::RemUIOp::create(b, cols, body.index(lanes));
    Value whole = arith::SubIOp::create(b, cols, rest);
    carried = emitFor(b, body.index(0), whole, body.index(lanes), carried,
                      [&](Value col, ValueRange old) {
                        return step({col, lanes, {}}, old);
                      });
    Value any =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, rest, body.index(0));
    return emitIfElse(b, any, carried, [&] {
      return step({whole, lanes, mask(rest)}, carried);
    });
  }

  Value mask(Value count) {
    auto type = VectorType::get({lanes}, b.getI1Type());
    return vector::CreateMaskOp::create(b, type, ValueRange{count});
  }

  Value identity(rt::ReduceKind kind) {
    // -0 + x is x for every x; 0 would turn a row of -0 into 0.
    double v = kind == rt::ReduceKind::Sum ? -0.0 : -INFINITY;
    return emitConstant(b, VectorType::get({lanes}, b.getF32Type()), v);
  }

  /// A vector with the identity in the lanes that are no columns.
  Value inLanes(Value v, Columns columns, rt::ReduceKind kind) {
    if (!columns.lanes)
      return vector::InsertOp::create(b, v, identity(kind), int64_t(0));
    return columns.mask
               ? arith::SelectOp::create(b, columns.mask, v, identity(kind))
                     .getResult()
               : v;
  }

  Value combine(rt::ReduceKind kind, Value x, Value y) {
    if (kind == rt::ReduceKind::Sum)
      return arith::AddFOp::create(b, x, y);
    return arith::MaximumFOp::create(b, x, y);
  }

  /// The fixed tree: neighbours among the accumulators, then halves of lanes.
  Value fold(rt::ReduceKind kind, SmallVector<Value> parts) {
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
      auto low = llvm::to_vector(llvm::seq<int64_t>(0, width));
      auto high = llvm::to_vector(llvm::seq<int64_t>(width, 2 * width));
      v = combine(kind, vector::ShuffleOp::create(b, v, v, low),
                  vector::ShuffleOp::create(b, v, v, high));
    }
    return vector::ExtractOp::create(b, v, int64_t(0));
  }

  ImplicitLocOpBuilder &b;
  const Schedule &s;
  rt::KernelOp kernel;
  int64_t lanes;
  Value cols;
  BodyEmitter body;
};

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
  auto plan = schedule(kernel, kScratchLimit);
  if (failed(plan))
    return failure();
  ImplicitLocOpBuilder b(kernel.getLoc(), kernel);
  auto function = makeKernelFunction(kernel, b);
  LogicalResult ok = CpuKernel(*plan, vectors, function, b).build();
  if (failed(ok))
    return function.erase(), failure();
  func::ReturnOp::create(b);
  markUnaliased(kernel, function);
  return function;
}
