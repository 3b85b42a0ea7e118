//===- PhasePass.cpp - a pass that is a phase -----------------------------===//
#include "passes/PhasePass.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace mtc::passes {

FailureOr<std::optional<Phase>> phaseOf(ModuleOp module) {
  Attribute attribute = module->getAttr(phaseAttr);
  if (!attribute)
    return std::optional<Phase>();
  auto name = dyn_cast<StringAttr>(attribute);
  std::optional<Phase> phase =
      name ? phaseNamed(name.getValue()) : std::optional<Phase>();
  if (!phase)
    return module.emitError("expected ")
           << phaseAttr << " to be one of " << phaseNames() << ", found "
           << attribute;
  return phase;
}

/// Passes read the bodies of functions. Functions are in symbol tables only:
/// other regions, such as those of kernels, are not looked into.
static LogicalResult checkBodies(ModuleOp module) {
  LogicalResult ok = success();
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto fn = dyn_cast<func::FuncOp>(op); fn && fn.isExternal())
      ok = fn.emitOpError("expected a function with a body, found \"")
           << fn.getSymName() << "\" without one";
    return op->hasTrait<OpTrait::SymbolTable>() ? WalkResult::advance()
                                                : WalkResult::skip();
  });
  return ok;
}

LogicalResult enterPhase(ModuleOp module, Phase phase) {
  FailureOr<std::optional<Phase>> reached = phaseOf(module);
  if (failed(reached))
    return failure();
  if (failed(checkBodies(module)))
    return failure();
  if (!*reached || follows(phase, **reached))
    return success();
  return module.emitError("expected IR for which ")
         << toString(phase) << " is the next phase, found the result of "
         << toString(**reached);
}

void leavePhase(ModuleOp module, Phase phase) {
  if (module->hasAttr(phaseAttr))
    module->setAttr(phaseAttr,
                    StringAttr::get(module.getContext(), toString(phase)));
}

} // namespace mtc::passes
