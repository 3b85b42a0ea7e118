//===- VerifyTraining.cpp - --verify-training -----------------------------===//
//
// Checks what --differentiate promises; see Passes.td.
//
//===----------------------------------------------------------------------===//
#include "dialects/mtc/Mtc.h"
#include "dialects/tfm/Tfm.h"
#include "passes/Passes.h"
#include "passes/PhasePass.h"
#include "passes/microbatch.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <map>

namespace mtc::passes {
#define GEN_PASS_DEF_VERIFYTRAINING
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;

namespace {

/// Each parameter has gradients for uses 0, 1, ... of its shape, of `element`s.
LogicalResult checkGradients(func::FuncOp fn, Type element) {
  std::map<std::string, Type> params;
  std::map<std::string, int64_t> next;
  for (BlockArgument arg : fn.getArguments())
    if (auto p = fn.getArgAttrOfType<tfm::ParamAttr>(arg.getArgNumber(),
                                                     "tfm.param"))
      params[p.getName().str()] =
          cast<RankedTensorType>(arg.getType()).clone(element);
  LogicalResult ok = success();
  for (unsigned i = 0; i < fn.getNumResults(); ++i) {
    auto grad = fn.getResultAttrOfType<tfm::GradAttr>(i, "tfm.grad");
    if (!grad)
      continue;
    std::string name = grad.getParam().str();
    auto it = params.find(name);
    if (it == params.end())
      ok = fn.emitOpError("expected result ")
           << i << " to be the gradient of a parameter, found \"" << name
           << "\"";
    else if (it->second != fn.getResultTypes()[i])
      ok = fn.emitOpError("expected the gradient of \"")
           << name << "\" of type " << it->second << ", found "
           << fn.getResultTypes()[i];
    if (grad.getUse() != next[name]++)
      ok = fn.emitOpError("expected uses of \"")
           << name << "\" in ascending order, found use " << grad.getUse();
  }
  return failed(tfm::checkUses(fn)) ? failure() : ok;
}

/// The uses of each parameter are what reads it in the forward; it may be saved
/// for the backward as well.
LogicalResult checkReaders(func::FuncOp fn) {
  LogicalResult ok = success();
  for (BlockArgument arg : fn.getArguments()) {
    auto param =
        fn.getArgAttrOfType<tfm::ParamAttr>(arg.getArgNumber(), "tfm.param");
    int64_t readers = llvm::count_if(arg.getUsers(), [](Operation *op) {
      return !tfm::isBackward(op) &&
             !isa<tfm::SaveOp, tfm::ExportOp, func::ReturnOp>(op);
    });
    int64_t uses = tfm::usesOf(fn, arg.getArgNumber());
    if (param && readers != uses)
      ok = fn.emitOpError("expected ")
           << readers << " uses of \"" << param.getName().getValue()
           << "\", as ops of the forward read it, found " << uses << " ("
           << tfm::usesAttr << ")";
  }
  return ok;
}

LogicalResult checkOps(func::FuncOp fn) {
  LogicalResult ok = success();
  for (Operation &op : fn.getBody().front().without_terminator()) {
    if (tfm::layerOf(&op) < 0 || !op.hasAttr(tfm::phaseAttr))
      ok = op.emitOpError("expected attributes tfm.layer and tfm.phase");
    if (!tfm::isBackward(&op) || isa<tfm::RestoreOp>(op))
      continue;
    for (Value operand : op.getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && !tfm::isBackward(def))
        ok = op.emitOpError("expected a backward op to read forward values "
                            "through tfm.restore, "
                            "found a direct use of ")
             << def->getName();
  }
  return ok;
}

struct VerifyTrainingPass
    : mtc::passes::PhasePass<
          passes::impl::VerifyTrainingBase<VerifyTrainingPass>> {
  void runPhase() override {
    auto functions = mtc::passes::microbatchesOf(getOperation());
    if (failed(functions))
      return signalPassFailure();
    FailureOr<ConfigAttr> config = configOf(getOperation());
    if (failed(config))
      return signalPassFailure();
    for (func::FuncOp fn : *functions) {
      LogicalResult gradients = checkGradients(fn, config->types().gradient),
                    readers = checkReaders(fn), ops = checkOps(fn),
                    copies = tfm::checkCopies(fn);
      if (failed(gradients) || failed(readers) || failed(ops) || failed(copies))
        signalPassFailure();
    }
  }
};

} // namespace
