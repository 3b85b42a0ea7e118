//===- shape.cpp - family: broadcast, repeat and reduce -------------------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

/// The factors of `all` at the positions `dims`.
static std::string pick(const std::string &all, ArrayRef<int64_t> dims) {
  std::string text;
  for (int64_t d : dims)
    text.push_back(all[d]);
  return text;
}
/// The positions below `rank` that are not in `dims`.
static SmallVector<int64_t> others(int64_t rank, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> rest;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(dims, d))
      rest.push_back(d);
  return rest;
}

//===--- broadcast --------------------------------------------------------===//

static ShardingRule broadcastRule(tfm::BroadcastOp op) {
  std::string all = factors(rankOf(op.getResult()));
  return {
      .operands = {pick(all, op.getDims())}, .results = {all}, .linear = {{0}}};
}

static Values broadcastGradient(OpBuilder &b, tfm::BroadcastOp op,
                                ValueRange dy) {
  auto rest = others(rankOf(op.getResult()), op.getDims());
  return {tfm::ReduceOp::create(b, op.getLoc(), op.getX().getType(),
                                tfm::ReduceKind::Sum, dy[0],
                                b.getDenseI64ArrayAttr(rest))};
}

//===--- repeat -----------------------------------------------------------===//

/// The factors of what is repeated, and of what repeats it: there dimension
/// `dim` is another factor, whose index says which of the former it is.
struct RepeatFactors {
  std::string once, many, one, other;
};
template <typename Op> static RepeatFactors repeatFactors(Op op, int64_t rank) {
  std::string all = factors(rank + 1);
  RepeatFactors f{all.substr(0, rank), all.substr(0, rank),
                  all.substr(op.getDim(), 1), all.substr(rank)};
  f.many.replace(op.getDim(), 1, f.other);
  return f;
}

static ShardingRule repeatRule(tfm::RepeatOp op) {
  RepeatFactors f = repeatFactors(op, rankOf(op.getX()));
  return {.operands = {f.once},
          .results = {f.many},
          .blocked = f.one,
          .linear = {{0}},
          .indexed = f.other};
}

static Values repeatGradient(OpBuilder &b, tfm::RepeatOp op, ValueRange dy) {
  return {tfm::RepeatGradOp::create(b, op.getLoc(), op.getX().getType(), dy[0],
                                    op.getDim(), op.getTimes())};
}

static ShardingRule repeatGradRule(tfm::RepeatGradOp op) {
  RepeatFactors f = repeatFactors(op, rankOf(op.getX()));
  return {.operands = {f.many},
          .results = {f.once},
          .blocked = f.one,
          .linear = {{0}},
          .indexed = f.other};
}

//===--- reduce -----------------------------------------------------------===//

static bool isMax(tfm::ReduceOp op) {
  return op.getKind() == tfm::ReduceKind::Max;
}

static ShardingRule reduceRule(tfm::ReduceOp op) {
  std::string all = factors(rankOf(op.getX()));
  ShardingRule rule{.operands = {all},
                    .results = {pick(all, others(all.size(), op.getDims()))},
                    .contractsToMax = isMax(op)};
  if (!isMax(op))
    rule.linear = {{0}};
  return rule;
}

static FailureOr<Values> reduceGradient(OpBuilder &b, tfm::ReduceOp op,
                                        ValueRange dy) {
  if (isMax(op))
    return op.emitOpError("expected a maximum behind tfm.stop_gradient; it has "
                          "no gradient rule");
  auto rest = others(rankOf(op.getX()), op.getDims());
  Value dx = tfm::BroadcastOp::create(b, op.getLoc(), op.getX().getType(),
                                      dy[0], b.getDenseI64ArrayAttr(rest));
  return Values{dx};
}

static Values reduceBody(BodyContext &c, tfm::ReduceOp op, ValueRange x) {
  if (!c.contractsCols)
    return {x[0]}; // summed over rows by accumulation
  return {isMax(op) ? c.rowMax(x[0]) : c.rowSum(x[0])};
}

void mtc::families::attachShape(MLIRContext *context) {
  attach<OpFamily::Shape, tfm::BroadcastOp, broadcastRule, broadcastGradient,
         sameElement>(context);
  attach<OpFamily::Shape, tfm::RepeatOp, repeatRule, repeatGradient, kRowMoves>(
      context);
  attach<OpFamily::Shape, tfm::RepeatGradOp, repeatGradRule, kBackwardOp,
         kRowMoves>(context);
  attach<OpFamily::Shape, tfm::ReduceOp, reduceRule, reduceGradient,
         reduceBody>(context);
}
