//===- Tfm.cpp - registration of the tfm dialect --------------------------===//
#include "dialects/tfm/Tfm.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mtc::tfm;

#include "dialects/tfm/TfmDialect.cpp.inc"
#include "dialects/tfm/TfmEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/tfm/TfmAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/tfm/TfmOps.cpp.inc"

void TfmDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/tfm/TfmAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/tfm/TfmOps.cpp.inc"
      >();
}

int64_t mtc::tfm::layerOf(Operation *op) {
  auto attr = op->getAttrOfType<IntegerAttr>(layerAttr);
  return attr ? attr.getInt() : -1;
}

int64_t mtc::tfm::usesOf(FunctionOpInterface fn, unsigned arg) {
  auto uses = fn.getArgAttrOfType<IntegerAttr>(arg, usesAttr);
  return uses ? uses.getInt() : 1;
}

LogicalResult mtc::tfm::checkUses(FunctionOpInterface fn) {
  llvm::StringMap<int64_t> gradients;
  for (unsigned i = 0; i < fn.getNumResults(); ++i)
    if (auto grad = fn.getResultAttrOfType<GradAttr>(i, "tfm.grad"))
      ++gradients[grad.getParam()];
  LogicalResult ok = success();
  for (unsigned i = 0; i < fn.getNumArguments(); ++i) {
    auto param = fn.getArgAttrOfType<ParamAttr>(i, "tfm.param");
    if (!param)
      continue;
    int64_t found = gradients.lookup(param.getName()), uses = usesOf(fn, i);
    if (found != uses)
      ok = fn.emitOpError("expected a gradient for each use of parameter \"")
           << param.getName().getValue() << "\", " << uses << ", found "
           << found;
  }
  return ok;
}

bool mtc::tfm::isBackward(Operation *op) {
  auto attr = op->getAttrOfType<StringAttr>(phaseAttr);
  return attr && attr.getValue() == "backward";
}
