//===- norm.cpp - family: normalisation over the last dimension ---------------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

/// Average over the columns.
static Value average(BodyContext &c, Value v) {
  return c.mul(c.rowSum(v), c.constant(1.0 / static_cast<double>(c.cols)));
}

static SmallVector<Value> normBody(BodyContext &c, Operation *op, ValueRange x) {
  double eps = cast<tfm::NormOp>(op).getEps().convertToDouble();
  Value mean = average(c, x[0]);
  Value d = c.sub(x[0], mean);
  Value variance = average(c, c.mul(d, d));
  Value root = math::SqrtOp::create(c.builder, c.loc, c.add(variance, c.constant(eps)));
  Value rstd = c.div(c.constant(1.0), root);
  return {c.fma(c.mul(d, rstd), x[1], x[2]), mean, rstd};
}

static SmallVector<Value> dxBody(BodyContext &c, Operation *, ValueRange x) {
  Value xh = c.mul(c.sub(x[1], x[3]), x[4]);
  Value d = c.mul(x[0], x[2]);
  Value shift = average(c, d), slope = average(c, c.mul(d, xh));
  return {c.mul(x[4], c.sub(c.sub(d, shift), c.mul(xh, slope)))};
}

static SmallVector<Value> dscaleBody(BodyContext &c, Operation *, ValueRange x) {
  return {c.mul(x[0], c.mul(c.sub(x[1], x[2]), x[3]))};
}

void mtc::families::registerNorm() {
  OpFamily f;
  f.rule = [](Operation *op) {
    std::string row = letters(rankOf(op->getOperand(0)) - 1), all = row + "z";
    return ShardingRule{{all, "z", "z"}, {all, row, row}, "z", {}, false, "", false};
  };
  f.gradient = [](OpBuilder &b, Operation *op, ValueRange dy) {
    auto norm = cast<tfm::NormOp>(op);
    if (dy[1] || dy[2]) {
      op->emitOpError("expected a loss that reads the mean and the root only "
                      "behind tfm.stop_gradient, found a cotangent of ")
          << (dy[1] ? "the mean" : "1 / the root")
          << "; they have no gradient rule";
      return SmallVector<Value>(3);
    }
    auto rows = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(norm.getX()) - 1));
    Location loc = op->getLoc();
    Value dx = tfm::NormDxOp::create(b, loc, norm.getX().getType(), norm.getKind(), dy[0],
                                     norm.getX(), norm.getScale(), norm.getMean(),
                                     norm.getRstd());
    Value dscale = tfm::NormDscaleOp::create(b, loc, norm.getScale().getType(),
                                             norm.getKind(), dy[0], norm.getX(),
                                             norm.getMean(), norm.getRstd());
    Value dbias = tfm::ReduceOp::create(b, loc, norm.getBias().getType(),
                                        tfm::ReduceKind::Sum, dy[0],
                                        b.getDenseI64ArrayAttr(rows));
    return SmallVector<Value>{dx, dscale, dbias};
  };
  f.body = normBody;
  add(tfm::NormOp::getOperationName(), f);

  OpFamily dx;
  dx.rule = [](Operation *op) {
    std::string row = letters(rankOf(op->getOperand(0)) - 1), all = row + "z";
    return ShardingRule{{all, all, "z", row, row}, {all}, "z", {{0}}, false, "", true};
  };
  dx.noGradient = "a backward op; second derivatives are not taken";
  dx.body = dxBody;
  add(tfm::NormDxOp::getOperationName(), dx);

  OpFamily dscale;
  dscale.rule = [](Operation *op) {
    std::string row = letters(rankOf(op->getOperand(0)) - 1), all = row + "z";
    return ShardingRule{{all, all, row, row}, {"z"}, "z", {{0}}, false, "", true};
  };
  dscale.noGradient = "a backward op; second derivatives are not taken";
  dscale.body = dscaleBody;
  dscale.widens = true;
  add(tfm::NormDscaleOp::getOperationName(), dscale);
}
