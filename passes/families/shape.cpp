//===- shape.cpp - family: broadcast and reduce ---------------------------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

/// The letters of `all` at the positions `dims`.
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

static void registerBroadcast() {
  OpFamily f;
  f.rule = [](Operation *op) {
    auto bc = cast<tfm::BroadcastOp>(op);
    std::string all = letters(rankOf(bc.getResult()));
    return ShardingRule{
        {pick(all, bc.getDims())}, {all}, "", {{0}}, false, "", false};
  };
  f.gradient = [](OpBuilder &b, Operation *op, ValueRange dy) {
    auto bc = cast<tfm::BroadcastOp>(op);
    auto rest = others(rankOf(bc.getResult()), bc.getDims());
    return SmallVector<Value>{tfm::ReduceOp::create(
        b, op->getLoc(), bc.getX().getType(), tfm::ReduceKind::Sum, dy[0],
        b.getDenseI64ArrayAttr(rest))};
  };
  // The element is the same one; the generator addresses it by its own shape.
  f.body = [](BodyContext &, Operation *, ValueRange x) -> SmallVector<Value> {
    return {x[0]};
  };
  f.rematerializable = true;
  add(tfm::BroadcastOp::getOperationName(), f);
}

static void registerReduce() {
  OpFamily f;
  f.rule = [](Operation *op) {
    auto reduce = cast<tfm::ReduceOp>(op);
    std::string all = letters(rankOf(reduce.getX()));
    bool isMax = reduce.getKind() == tfm::ReduceKind::Max;
    ShardingRule rule;
    rule.operands = {all};
    rule.results = {pick(all, others(all.size(), reduce.getDims()))};
    if (!isMax)
      rule.linear = {{0}};
    rule.contractsToMax = isMax;
    return rule;
  };
  f.gradient = [](OpBuilder &b, Operation *op, ValueRange dy) {
    auto reduce = cast<tfm::ReduceOp>(op);
    if (reduce.getKind() == tfm::ReduceKind::Max) {
      op->emitOpError("expected a maximum behind tfm.stop_gradient; it has no "
                      "gradient rule");
      return SmallVector<Value>{Value()};
    }
    auto rest = others(rankOf(reduce.getX()), reduce.getDims());
    return SmallVector<Value>{
        tfm::BroadcastOp::create(b, op->getLoc(), reduce.getX().getType(),
                                 dy[0], b.getDenseI64ArrayAttr(rest))};
  };
  f.body = [](BodyContext &c, Operation *op,
              ValueRange x) -> SmallVector<Value> {
    if (!c.contractsCols)
      return {x[0]}; // summed over rows by accumulation
    bool isMax = cast<tfm::ReduceOp>(op).getKind() == tfm::ReduceKind::Max;
    return {isMax ? c.rowMax(x[0]) : c.rowSum(x[0])};
  };
  f.widens = true;
  add(tfm::ReduceOp::getOperationName(), f);
}

void mtc::families::registerShape() {
  registerBroadcast();
  registerReduce();
}
