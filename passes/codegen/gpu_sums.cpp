//===- gpu_sums.cpp - sums over rows on a GPU -----------------------------===//
//
// Rows are added up in order, whatever the number of blocks that run at once.
// A column or scalar operand gets a part from each block, in the workspace: a
// second entry adds the parts in a fixed order. A table or periodic operand has
// rows of its own: each belongs to one block, which goes through all rows of
// the kernel and takes those that change what it owns. Sinks of single rows are
// left to another entry: a block that came later for the same row could find
// its operands overwritten.
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/elementary.h"
#include "passes/codegen/gpu_builder.h"
#include "passes/codegen/gpu_team.h"
#include "passes/codegen/loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::codegen;

namespace {

/// The sums of one block, in shared memory if they fit, else in their place in
/// the workspace. Those that one thread makes for the whole block are there in
/// any case: LLVM may read shared memory before it knows which thread it is,
/// and a race detector cannot know that nobody looks at what was read.
class Parts {
public:
  explicit Parts(GpuBuilder &g) : g(g), b(g.b), width(g.shape.sumWidth()) {
    if (!width)
      return;
    start = g.mul(emitBlock(b), g.index(width));
    own = ownPart();
    memory = own;
    if (g.shape.sharedBytes())
      memory = emitDynamicShared(
          b, g.function, (g.function.getName() + "_shared").str(), width);
    for (const GpuSum &sum : g.shape.sums)
      g.body.setPartialSum(sum.operand, memory, sum.start);
  }

  void emitZero() {
    eachColumn([&](Value at) {
      Value zero = emitConstant(b, b.getF32Type(), 0);
      memref::StoreOp::create(b, zero, memory, at);
    });
    synchronise();
  }

  void emitFlush() {
    if (memory == own)
      return;
    synchronise();
    eachColumn([&](Value at) {
      Value part = memref::LoadOp::create(b, memory, at);
      memref::StoreOp::create(b, part, own, at);
    });
  }

private:
  void synchronise() {
    if (width)
      emitBarrier(b);
  }

  template <typename F> void eachColumn(F f) {
    if (width)
      emitFor(b, emitThread(b), g.index(width), g.index(g.shape.threads), {},
              [&](Value at, ValueRange) {
                f(at);
                return SmallVector<Value>{};
              });
  }

  /// This block's part of the workspace as a memref of its own.
  Value ownPart() {
    auto strided = MemRefType::get(
        {width}, b.getF32Type(),
        StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1}));
    return memref::ReinterpretCastOp::create(
        b, strided, g.function.getArguments().back(), OpFoldResult(start),
        ArrayRef<OpFoldResult>{b.getIndexAttr(width)},
        ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  }

  GpuBuilder &g;
  ImplicitLocOpBuilder &b;
  int64_t width;
  Value start, own, memory;
};

/// Which block executes which sink of a row.
class Owners {
public:
  explicit Owners(GpuBuilder &g) : g(g), b(g.b), block(emitBlock(b)) {
    for (const ColumnPass &pass : g.s.passes)
      add(pass.sinks);
    add(g.s.rowSinks);
  }

  /// i1: this block executes `sink` of the row that the body is at.
  Value owns(Operation *sink) {
    Value key = keyOf(sink);
    Value owner = arith::RemUIOp::create(b, key, g.index(g.shape.blocks));
    return g.equal(owner, block);
  }

  /// i1: it executes any sink of it.
  Value ownsAny() {
    Value any;
    for (Operation *sink : sinks) {
      Value mine = owns(sink);
      any = any ? arith::OrIOp::create(b, any, mine).getResult() : mine;
    }
    return any;
  }

  void setRow(Value r) { row = r; }

private:
  void add(ArrayRef<Operation *> of) {
    for (Operation *sink : of)
      if (isSum(g.kernel, sink))
        sinks.push_back(sink);
  }

  Value keyOf(Operation *sink) {
    rt::OperandAttr info = g.s.operand(operandIndex(sink));
    if (auto scatter = dyn_cast<rt::ScatterAddOp>(sink))
      return arith::IndexCastUIOp::create(b, b.getIndexType(),
                                          g.body.rowOfTable(scatter));
    if (info.getMode() == rt::Mode::Periodic)
      return arith::RemUIOp::create(b, row, g.index(info.getExtent()));
    return row;
  }

  GpuBuilder &g;
  ImplicitLocOpBuilder &b;
  Value block, row;
  SmallVector<Operation *> sinks;
};

} // namespace

void codegen::emitGpuChunks(GpuBuilder &g) {
  Parts parts(g);
  parts.emitZero();
  Value first = g.mul(emitBlock(g.b), g.index(g.shape.rowsPerChunk));
  Value end =
      arith::MinUIOp::create(g.b, g.add(first, g.index(g.shape.rowsPerChunk)),
                             g.index(numRows(g.kernel)));
  emitFor(g.b, first, end, g.index(1), {}, [&](Value row, ValueRange) {
    g.emitRow(row, emitThread(g.b));
    return SmallVector<Value>{};
  });
  parts.emitFlush();
}

/// Bits of the 32 rows from `base` on that this block has something to do for.
static Value candidates(GpuBuilder &g, Owners &owners, Value base) {
  ImplicitLocOpBuilder &b = g.b;
  Value lane = arith::AndIOp::create(b, emitThread(b), g.index(kGpuWarp - 1));
  Value row = g.add(base, lane);
  Value none = arith::ConstantIntOp::create(b, 0, 1);
  Value mine =
      emitIfElse(b, g.less(row, g.index(numRows(g.kernel))), {none}, [&] {
        owners.setRow(row);
        g.body.startRow(row);
        g.check(g.body.emitRowOps(0));
        return SmallVector<Value>{owners.ownsAny()};
      })[0];
  return emitBallot(b, mine);
}

/// `body` for the number of each bit of `mask` (i32), from the lowest on.
static void forBits(ImplicitLocOpBuilder &b, Value mask,
                    llvm::function_ref<void(Value)> body) {
  Type i32 = b.getI32Type();
  Value zero = emitInteger(b, i32, 0), one = emitInteger(b, i32, 1);
  scf::WhileOp::create(
      b, TypeRange{i32}, ValueRange{mask},
      [&](OpBuilder &builder, Location loc, ValueRange rest) {
        Value more = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::ne, rest[0], zero);
        scf::ConditionOp::create(builder, loc, more, rest);
      },
      [&](OpBuilder &builder, Location loc, ValueRange rest) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(builder.getInsertionBlock(),
                            builder.getInsertionPoint());
        Value lowest = math::CountTrailingZerosOp::create(b, rest[0]);
        body(arith::IndexCastUIOp::create(b, b.getIndexType(), lowest));
        Value less = arith::SubIOp::create(b, rest[0], one);
        Value next = arith::AndIOp::create(b, rest[0], less);
        scf::YieldOp::create(b, next);
      });
}

void codegen::emitGpuOwners(GpuBuilder &g) {
  Parts parts(g);
  parts.emitZero();
  Owners owners(g);
  g.body.setSinkCondition([&](Operation *sink) { return owners.owns(sink); });
  emitFor(g.b, g.index(0), g.index(numRows(g.kernel)), g.index(kGpuWarp), {},
          [&](Value base, ValueRange) {
            forBits(g.b, candidates(g, owners, base), [&](Value bit) {
              Value row = g.add(base, bit);
              owners.setRow(row);
              g.emitRow(row, emitThread(g.b));
            });
            return SmallVector<Value>{};
          });
  g.body.setSinkCondition(nullptr);
  parts.emitFlush();
}

//===--- the parts of all blocks ------------------------------------------===//

namespace {

/// A block has 32 columns, a warp of it a share of the parts of each. Warps add
/// in order of the parts, and the first adds up the warps' sums in order.
class Sums {
public:
  explicit Sums(GpuBuilder &g) : g(g), b(g.b), width(g.shape.sumWidth()) {}

  void emit() {
    Value thread = emitThread(b);
    Value lane = arith::RemUIOp::create(b, thread, g.index(kGpuWarp));
    Value warp = arith::DivUIOp::create(b, thread, g.index(kGpuWarp));
    Value column = g.add(g.mul(emitBlock(b), g.index(kGpuWarp)), lane);
    Value shared =
        emitShared(b, g.function, (g.function.getName() + "_shared").str(),
                   kGpuSumThreads);
    Value inside = isOfSum(column);
    emitIf(b, inside, [&] {
      memref::StoreOp::create(b, sumOfParts(warp, column), shared, thread);
    });
    emitBarrier(b);
    Value last = arith::AndIOp::create(b, inside, g.equal(warp, g.index(0)));
    emitIf(b, last, [&] { addTo(column, sumOfWarps(shared, lane)); });
  }

private:
  static constexpr int64_t kWarps = kGpuSumThreads / kGpuWarp;

  Value sumOfParts(Value warp, Value column) {
    int64_t share = (g.shape.blocks + kWarps - 1) / kWarps;
    Value from = g.mul(warp, g.index(share));
    Value to = arith::MinUIOp::create(b, g.add(from, g.index(share)),
                                      g.index(g.shape.blocks));
    Value workspace = g.function.getArguments().back();
    return emitFor(b, from, to, g.index(1),
                   emitIdentity(b, rt::ReduceKind::Sum, b.getF32Type()),
                   [&](Value part, ValueRange old) {
                     Value at = g.add(g.mul(part, g.index(width)), column);
                     Value x = memref::LoadOp::create(b, workspace, at);
                     return SmallVector<Value>{
                         arith::AddFOp::create(b, old[0], x)};
                   })[0];
  }

  Value sumOfWarps(Value shared, Value lane) {
    Value sum;
    for (int64_t w = 0; w < kWarps; ++w) {
      Value at = g.add(lane, g.index(w * kGpuWarp));
      Value x = memref::LoadOp::create(b, shared, at);
      sum = sum ? arith::AddFOp::create(b, sum, x).getResult() : x;
    }
    return sum;
  }

  /// i1: a sum has the column; between two there may be others.
  Value isOfSum(Value column) {
    Value any;
    for (const GpuSum &sum : g.shape.sums) {
      Value in = isIn(sum, column);
      any = any ? arith::OrIOp::create(b, any, in).getResult() : in;
    }
    return any;
  }

  Value isIn(const GpuSum &sum, Value column) {
    Value from = arith::SubIOp::create(b, column, g.index(sum.start));
    return g.less(from, g.index(sum.width)); // below the first is far above all
  }

  /// Adds to the operand whose column it is.
  void addTo(Value column, Value sum) {
    for (const GpuSum &of : g.shape.sums) {
      emitIf(b, isIn(of, column), [&] {
        Value at = arith::SubIOp::create(b, column, g.index(of.start));
        g.body.addToColumn(of.operand, at, sum);
      });
    }
  }

  GpuBuilder &g;
  ImplicitLocOpBuilder &b;
  int64_t width;
};

} // namespace

void codegen::emitGpuSums(GpuBuilder &g) { Sums(g).emit(); }
