//===- Calls.cpp - ops that become calls of the runtime -------------------===//
#include "passes/plan/Calls.h"

#include "dialects/dist/Dist.h"
#include "dialects/tfm/Tfm.h"
#include "passes/plan/Collectives.h"
#include "passes/plan/Gemm.h"

using namespace mlir;
using namespace mtc;

namespace mtc::passes {

bool isCall(Operation *op) {
  return isa<tfm::EinsumOp, tfm::AttentionOp, tfm::AttentionGradOp,
             tfm::UnfuseOp, tfm::FuseOp, tfm::RepeatOp, tfm::RepeatGradOp>(
             op) ||
         op->getName().getDialectNamespace() == "dist";
}

bool isTakenByCall(Operation *op) {
  return isSink(op) && soleSink(op->getOperand(0)) &&
         isa_and_nonnull<tfm::EinsumOp>(op->getOperand(0).getDefiningOp());
}

LogicalResult checkCall(Operation *op) {
  if (auto einsum = dyn_cast<tfm::EinsumOp>(op); einsum && !gemmForm(einsum))
    return op->emitOpError("expected letters in contiguous groups (rows, "
                           "columns, contracted), found \"")
           << einsum.getEquation() << "\"";
  if (op->getName().getDialectNamespace() == "dist")
    return checkCollective(op);
  return success();
}

void keepLayer(Operation *from, Operation *to) {
  if (Attribute layer = from->getAttr(tfm::layerAttr))
    to->setAttr(tfm::layerAttr, layer);
}

} // namespace mtc::passes
