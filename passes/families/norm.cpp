//===- norm.cpp - family: normalisation over the last dimension -----------===//
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

/// x less its mean, where there is one.
static Value centred(BodyContext &c, Value x, Value mean) {
  return mean ? c.sub(x, mean) : x;
}

static SmallVector<Value> normBody(BodyContext &c, Operation *op,
                                   ValueRange in) {
  auto norm = cast<tfm::NormOp>(op);
  tfm::NormOp::Adaptor x(in, norm);
  Value mean = norm.getMean() ? average(c, x.getX()) : Value();
  Value d = centred(c, x.getX(), mean);
  Value square = average(c, c.mul(d, d));
  Value eps = c.constant(norm.getEps().convertToDouble());
  Value root = math::SqrtOp::create(c.builder, c.loc, c.add(square, eps));
  Value rstd = c.div(c.constant(1.0), root), xh = c.mul(d, rstd);
  Value y = x.getBias() ? c.fma(xh, x.getScale(), x.getBias())
                        : c.mul(xh, x.getScale());
  return mean ? SmallVector<Value>{y, mean, rstd} : SmallVector<Value>{y, rstd};
}

static SmallVector<Value> dxBody(BodyContext &c, Operation *op, ValueRange in) {
  tfm::NormDxOp::Adaptor x(in, cast<tfm::NormDxOp>(op));
  Value xh = c.mul(centred(c, x.getX(), x.getMean()), x.getRstd());
  Value d = c.mul(x.getDy(), x.getScale());
  Value shifted = x.getMean() ? c.sub(d, average(c, d)) : d;
  return {
      c.mul(x.getRstd(), c.sub(shifted, c.mul(xh, average(c, c.mul(d, xh)))))};
}

static SmallVector<Value> dscaleBody(BodyContext &c, Operation *op,
                                     ValueRange in) {
  tfm::NormDscaleOp::Adaptor x(in, cast<tfm::NormDscaleOp>(op));
  return {
      c.mul(x.getDy(), c.mul(centred(c, x.getX(), x.getMean()), x.getRstd()))};
}

static SmallVector<Value> gradient(OpBuilder &b, Operation *op, ValueRange dy) {
  auto norm = cast<tfm::NormOp>(op);
  SmallVector<Value> dx(op->getNumOperands());
  for (OpResult saved : op->getResults().drop_front())
    if (dy[saved.getResultNumber()]) {
      op->emitOpError("expected a loss that reads the mean and the root only "
                      "behind tfm.stop_gradient, found a cotangent of ")
          << (saved == norm.getMean() ? "the mean" : "1 / the root")
          << "; they have no gradient rule";
      return dx;
    }
  Value x = norm.getX(), mean = norm.getMean(), rstd = norm.getRstd();
  Location loc = op->getLoc();
  dx[0] = tfm::NormDxOp::create(b, loc, x.getType(), norm.getKind(), dy[0], x,
                                norm.getScale(), mean, rstd);
  dx[1] = tfm::NormDscaleOp::create(b, loc, norm.getScale().getType(),
                                    norm.getKind(), dy[0], x, mean, rstd);
  auto rows = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(x) - 1));
  if (norm.getBias())
    dx[2] = tfm::ReduceOp::create(b, loc, norm.getBias().getType(),
                                  tfm::ReduceKind::Sum, dy[0],
                                  b.getDenseI64ArrayAttr(rows));
  return dx;
}

/// Letters of x: `row` and, for the dimension that is normalised, "z".
static std::string rowLetters(Operation *op) {
  return letters(rankOf(op->getOperand(0)) - 1);
}

void mtc::families::registerNorm() {
  OpFamily f;
  f.rule =
      [](Operation *op) { // x, scale and perhaps bias; y and one or two rows
        std::string row = rowLetters(op), all = row + "z";
        ShardingRule rule{{all}, {all}, "z", {}, false, "", false};
        rule.operands.resize(op->getNumOperands(), "z");
        rule.results.resize(op->getNumResults(), row);
        return rule;
      };
  f.gradient = gradient;
  f.body = normBody;
  add(tfm::NormOp::getOperationName(), f);

  OpFamily dx;
  dx.rule = [](Operation *op) { // dy, x, scale and one or two rows
    std::string row = rowLetters(op), all = row + "z";
    ShardingRule rule{{all, all, "z"}, {all}, "z", {{0}}, false, "", true};
    rule.operands.resize(op->getNumOperands(), row);
    return rule;
  };
  dx.noGradient = "a backward op; second derivatives are not taken";
  dx.body = dxBody;
  add(tfm::NormDxOp::getOperationName(), dx);

  OpFamily dscale;
  dscale.rule = [](Operation *op) { // dy, x and one or two rows
    std::string row = rowLetters(op), all = row + "z";
    ShardingRule rule{{all, all}, {"z"}, "z", {{0}}, false, "", true};
    rule.operands.resize(op->getNumOperands(), row);
    return rule;
  };
  dscale.noGradient = "a backward op; second derivatives are not taken";
  dscale.body = dscaleBody;
  dscale.widens = true;
  add(tfm::NormDscaleOp::getOperationName(), dscale);
}
