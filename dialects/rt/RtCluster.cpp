//===- RtCluster.cpp - verifier of clusters -------------------------------===//
#include "dialects/rt/Rt.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::rt;

YieldOp ClusterOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

/// Ops of the level where mathematics is written, and what adds them up.
static bool isOfKernel(Operation &op) {
  return op.getName().getDialectNamespace() == "tfm" ||
         isa<pipe::AccumulateOp, pipe::LossOp>(op);
}

LogicalResult ClusterOp::verifyRegions() {
  if (ops().empty())
    return emitOpError("expected ops that become one kernel, found none");
  for (Operation &op : ops())
    if (!isOfKernel(op))
      return op.emitOpError("expected only ops of tfm, pipe.accumulate and "
                            "pipe.loss in a cluster, found another");
  YieldOp yield = getYield();
  if (yield.getOperandTypes() != getResultTypes())
    return yield.emitOpError("expected values of the cluster's results (")
           << getResultTypes() << "), found (" << yield.getOperandTypes()
           << ")";
  for (Value value : yield.getValues())
    if (value.getParentBlock() != &getBody().front())
      return yield.emitOpError("expected values that the cluster's ops make, "
                               "found one of before");
  return success();
}
