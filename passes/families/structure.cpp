//===- structure.cpp - family: save, restore, export, stop_gradient -------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

static ShardingRule exportRule(tfm::ExportOp op) {
  return {.operands = {factors(rankOf(op.getX()))}};
}

void mtc::families::attachStructure(MLIRContext *context) {
  constexpr Absent made("made by differentiate itself");
  constexpr Absent place("a place in the activation slot, not a computation");
  attach<OpFamily::Structure, tfm::SaveOp, linearInFirst, made, place>(context);
  attach<OpFamily::Structure, tfm::RestoreOp, linearInFirst, made, place>(
      context);
  attach<OpFamily::Structure, tfm::StopGradientOp, nonlinear, noCotangents,
         Absent("removed by differentiate")>(context);
  attach<OpFamily::Structure, tfm::ExportOp, exportRule, noCotangents,
         Absent("names a value; computes nothing")>(context);
}
