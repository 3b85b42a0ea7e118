//===- gpu_rows.cpp - elements and rows on a GPU --------------------------===//
#include "passes/codegen/gpu_builder.h"
#include "passes/codegen/gpu_team.h"
#include "passes/codegen/loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::codegen;

//===--- a vector per thread ----------------------------------------------===//

namespace {

class Elements {
public:
  explicit Elements(GpuBuilder &g) : g(g), b(g.b), lanes(g.shape.lanes) {}

  void emit() {
    Value thread =
        g.add(g.mul(emitBlock(b), g.index(g.shape.threads)), emitThread(b));
    Value first = g.mul(thread, g.index(lanes));
    if (numCols(g.kernel) < 0)
      emitDynamic(first);
    else
      emitStatic(first);
  }

private:
  void emitStatic(Value first) {
    int64_t rows = numRows(g.kernel), cols = numCols(g.kernel);
    int64_t total = rows * cols;
    auto one = [&] {
      if (rows == 1)
        return at(g.index(0), first, lanes);
      at(arith::DivUIOp::create(b, first, g.index(cols)),
         arith::RemUIOp::create(b, first, g.index(cols)), lanes);
    };
    if (total % (g.shape.threads * lanes) == 0)
      return one();
    emitIf(b, g.less(first, g.index(total)), one);
  }

  /// Whole vectors where addresses allow them, else and at the end columns one
  /// by one.
  void emitDynamic(Value first) {
    if (lanes == 1)
      return emitIf(b, g.less(first, g.cols),
                    [&] { at(g.index(0), first, 1); });
    Value end = g.add(first, g.index(lanes));
    Value whole =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ule, end, g.cols);
    if (g.shape.lanesIfAligned)
      whole = arith::AndIOp::create(b, whole, areAligned());
    emitIf(b, whole, [&] { at(g.index(0), first, lanes); });
    Value rest =
        arith::XOrIOp::create(b, whole, arith::ConstantIntOp::create(b, 1, 1));
    emitIf(b, rest, [&] {
      Value stop = arith::MinUIOp::create(b, end, g.cols);
      emitFor(b, first, stop, g.index(1), {}, [&](Value col, ValueRange) {
        at(g.index(0), col, 1);
        return SmallVector<Value>{};
      });
    });
  }

  /// i1: all operands of columns have addresses of 16 bytes.
  Value areAligned() {
    Value bits = g.index(0);
    for (auto [i, attr] : llvm::enumerate(g.kernel.getOperandsInfo()))
      if (cast<rt::OperandAttr>(attr).getMode() != rt::Mode::Scalar)
        bits =
            arith::OrIOp::create(b, bits,
                                 memref::ExtractAlignedPointerAsIndexOp::create(
                                     b, g.function.getArgument(i)));
    Value low = arith::AndIOp::create(b, bits, g.index(15));
    return g.equal(low, g.index(0));
  }

  void at(Value row, Value col, int64_t width) {
    g.body.startRow(row);
    g.check(g.body.emitRowOps(0));
    g.check(g.body.emitPass(0, {col, width > 1 ? width : 0, {}}));
  }

  GpuBuilder &g;
  ImplicitLocOpBuilder &b;
  int64_t lanes;
};

} // namespace

void codegen::emitGpuElements(GpuBuilder &g) { Elements(g).emit(); }

//===--- a team per row ---------------------------------------------------===//

void codegen::emitGpuRows(GpuBuilder &g) {
  int64_t team = g.shape.rowThreads, teams = g.shape.threads / team;
  Value thread = emitThread(g.b), row = emitBlock(g.b);
  if (teams > 1) {
    Value mine = arith::DivUIOp::create(g.b, thread, g.index(team));
    row = g.add(g.mul(row, g.index(teams)), mine);
    thread = arith::RemUIOp::create(g.b, thread, g.index(team));
  }
  int64_t rows = numRows(g.kernel);
  if (rows % teams == 0)
    return g.emitRow(row, thread);
  emitIf(g.b, g.less(row, g.index(rows)), [&] { g.emitRow(row, thread); });
}
