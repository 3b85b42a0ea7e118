//===- Copies.cpp - checks of ops that compute again ----------------------===//
#include "dialects/tfm/Tfm.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace mtc::tfm;

namespace {

class CopyChecker {
public:
  explicit CopyChecker(FunctionOpInterface fn) : fn(fn) {
    fn.walk([&](Operation *op) {
      if (auto id = op->getAttrOfType<IntegerAttr>(idAttr))
        originals.try_emplace(id.getInt(), op);
    });
  }

  LogicalResult run() {
    LogicalResult ok = success();
    fn.walk([&](Operation *op) {
      if (op->hasAttr(recomputesAttr) && failed(check(op)))
        ok = failure();
    });
    return ok;
  }

private:
  Operation *originalOf(Operation *op) const {
    auto id = op->getAttrOfType<IntegerAttr>(recomputesAttr);
    return id ? originals.lookup(id.getInt()) : nullptr;
  }

  LogicalResult check(Operation *copy) {
    Operation *original = originalOf(copy);
    if (!original || isBackward(original) || !isBackward(copy))
      return copy->emitOpError("expected ")
             << recomputesAttr << " on an op of the backward, the " << idAttr
             << " of one of the forward, found "
             << copy->getAttr(recomputesAttr);
    if (!seen.insert({original, layerOf(copy)}).second)
      return copy->emitOpError("expected what it computes again once in layer ")
             << layerOf(copy) << ", found it twice";
    if (copy->getName() != original->getName() ||
        copy->getNumOperands() != original->getNumOperands() ||
        copy->getResultTypes() != original->getResultTypes() ||
        copy->getPropertiesAsAttribute() !=
            original->getPropertiesAsAttribute())
      return copy->emitOpError("expected the op that it computes again, ")
             << original->getName() << " with its attributes and types, found "
             << "another";
    for (auto [k, wanted] : llvm::enumerate(original->getOperands()))
      if (!standsFor(copy->getOperand(k), wanted))
        return copy->emitOpError("expected operand ")
               << k << " to be that of the op that it computes again, restored "
               << "or computed again, found another value";
    return success();
  }

  bool standsFor(Value found, Value wanted) const {
    if (isa<BlockArgument>(wanted))
      return found == wanted;
    Operation *maker = found.getDefiningOp();
    if (auto restore = dyn_cast_or_null<RestoreOp>(maker)) {
      auto save = restore.getSaved().getDefiningOp<SaveOp>();
      return save && save.getX() == wanted;
    }
    return maker && originalOf(maker) == wanted.getDefiningOp() &&
           cast<OpResult>(found).getResultNumber() ==
               cast<OpResult>(wanted).getResultNumber();
  }

  FunctionOpInterface fn;
  llvm::DenseMap<int64_t, Operation *> originals;       ///< looked up only
  llvm::DenseSet<std::pair<Operation *, int64_t>> seen; ///< looked up only
};

} // namespace

LogicalResult mtc::tfm::checkCopies(FunctionOpInterface fn) {
  return CopyChecker(fn).run();
}
