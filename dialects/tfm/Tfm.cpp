//===- Tfm.cpp - registration of the tfm dialect --------------------------===//
#include "dialects/tfm/Tfm.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
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

bool mtc::tfm::isBackward(Operation *op) {
  auto attr = op->getAttrOfType<StringAttr>(phaseAttr);
  return attr && attr.getValue() == "backward";
}
