//===- structure.cpp - family: save, restore, export, whole ---------------===//
//
// And stop_gradient: ops that compute nothing.
//
//===----------------------------------------------------------------------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

static ShardingRule exportRule(tfm::ExportOp op) {
  return {.operands = {factors(rankOf(op.getX()))}};
}

static ShardingRule wholeRule(tfm::WholeOp op) {
  ShardingRule rule = elementwise(op, {});
  for (int64_t dim : op.getDims())
    rule.blocked.push_back(rule.results[0][dim]);
  return rule;
}
static Values wholeGradient(OpBuilder &, tfm::WholeOp, ValueRange dy) {
  return {dy[0]};
}

void mtc::families::attachStructure(MLIRContext *context) {
  constexpr Absent made("made by differentiate itself");
  constexpr Absent place("a place in the activation slot, not a computation");
  attach<OpFamily::Structure, tfm::SaveOp, linearInFirst, made, place>(context);
  attach<OpFamily::Structure, tfm::RestoreOp, linearInFirst, made, place>(
      context);
  attach<OpFamily::Structure, tfm::StopGradientOp, nonlinear, noCotangents,
         Absent("removed by differentiate")>(context);
  attach<OpFamily::Structure, tfm::WholeOp, wholeRule, wholeGradient,
         Absent("removed by insert-collectives")>(context);
  attach<OpFamily::Structure, tfm::ExportOp, exportRule, noCotangents,
         Absent("names a value; computes nothing")>(context);
}
