//===- norm.cpp - family: normalisation over the last dimension -----------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

/// Average over the columns.
static Value average(BodyContext &c, Value v) {
  return c.mul({c.rowSum(v), c.constant(1.0 / static_cast<double>(c.cols))});
}

/// x less its mean, where there is one.
static Value centred(BodyContext &c, Value x, Value mean) {
  return mean ? c.sub({x, mean}) : x;
}

static Values normBody(BodyContext &c, tfm::NormOp norm, ValueRange in) {
  tfm::NormOp::Adaptor x(in, norm);
  Value mean = norm.getMean() ? average(c, x.getX()) : Value();
  Value d = centred(c, x.getX(), mean);
  Value square = average(c, c.mul({d, d}));
  Value eps = c.constant(norm.getEps().convertToDouble());
  Value root = math::SqrtOp::create(c.builder, c.loc, c.add({square, eps}));
  Value rstd = c.div({c.constant(1.0), root}), xh = c.mul({d, rstd});
  Value y = x.getBias() ? c.fma({xh, x.getScale(), x.getBias()})
                        : c.mul({xh, x.getScale()});
  return mean ? Values{y, mean, rstd} : Values{y, rstd};
}

static Values dxBody(BodyContext &c, tfm::NormDxOp op, ValueRange in) {
  tfm::NormDxOp::Adaptor x(in, op);
  Value xh = c.mul({centred(c, x.getX(), x.getMean()), x.getRstd()});
  Value d = c.mul({x.getDy(), x.getScale()});
  Value shifted = x.getMean() ? c.sub({d, average(c, d)}) : d;
  return {c.mul({x.getRstd(),
                 c.sub({shifted, c.mul({xh, average(c, c.mul({d, xh}))})})})};
}

static Values dscaleBody(BodyContext &c, tfm::NormDscaleOp op, ValueRange in) {
  tfm::NormDscaleOp::Adaptor x(in, op);
  return {c.mul(
      {x.getDy(), c.mul({centred(c, x.getX(), x.getMean()), x.getRstd()})})};
}

static FailureOr<Values> normGradient(OpBuilder &b, tfm::NormOp norm,
                                      ValueRange dy) {
  Values dx(norm->getNumOperands());
  for (OpResult saved : norm->getResults().drop_front())
    if (dy[saved.getResultNumber()])
      return norm.emitOpError(
                 "expected a loss that reads the mean and the root only "
                 "behind tfm.stop_gradient, found a cotangent of ")
             << (saved == norm.getMean() ? "the mean" : "1 / the root")
             << "; they have no gradient rule";
  Value x = norm.getX(), mean = norm.getMean(), rstd = norm.getRstd();
  Location loc = norm.getLoc();
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

/// Factors of x: `row` and, for the dimension that is normalised, "z".
static std::string rowLetters(Operation *op) {
  return factors(rankOf(op->getOperand(0)) - 1);
}

/// x, scale and perhaps bias; y and one or two rows.
static ShardingRule normRule(Operation *op) {
  std::string row = rowLetters(op), all = row + "z";
  ShardingRule rule{.operands = {all}, .results = {all}, .blocked = "z"};
  rule.operands.resize(op->getNumOperands(), "z");
  rule.results.resize(op->getNumResults(), row);
  return rule;
}

/// dy, x, scale and one or two rows.
static ShardingRule dxRule(Operation *op) {
  std::string row = rowLetters(op), all = row + "z";
  ShardingRule rule{.operands = {all, all, "z"},
                    .results = {all},
                    .blocked = "z",
                    .linear = {{0}},
                    .normBackward = true};
  rule.operands.resize(op->getNumOperands(), row);
  return rule;
}

/// dy, x and one or two rows.
static ShardingRule dscaleRule(Operation *op) {
  std::string row = rowLetters(op), all = row + "z";
  ShardingRule rule{.operands = {all, all},
                    .results = {"z"},
                    .blocked = "z",
                    .linear = {{0}},
                    .normBackward = true};
  rule.operands.resize(op->getNumOperands(), row);
  return rule;
}

void mtc::families::attachNorm(MLIRContext *context) {
  attach<OpFamily::Norm, tfm::NormOp, normRule, normGradient, normBody>(
      context);
  attach<OpFamily::Norm, tfm::NormDxOp, dxRule, kBackwardOp, dxBody>(context);
  attach<OpFamily::Norm, tfm::NormDscaleOp, dscaleRule, kBackwardOp,
         dscaleBody>(context);
}
