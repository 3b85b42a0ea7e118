//===- Pipe.cpp - registration of the pipe dialect ------------------------===//
#include "dialects/pipe/Pipe.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mtc::pipe;

#include "dialects/pipe/PipeDialect.cpp.inc"
#include "dialects/pipe/PipeEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/pipe/PipeAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/pipe/PipeOps.cpp.inc"

void PipeDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/pipe/PipeAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/pipe/PipeOps.cpp.inc"
      >();
}

LogicalResult PipeDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (attribute.getName() != FragmentAttr::attrName)
    return op->emitOpError("expected ")
           << FragmentAttr::attrName
           << " as the dialect's only attribute, found " << attribute.getName();
  auto fragment = dyn_cast<FragmentAttr>(attribute.getValue());
  if (!fragment || fragment.getStage() < 0 || fragment.getChunk() < 0)
    return op->emitOpError("expected #pipe.fragment with a stage and a chunk, "
                           "counted from 0, found ")
           << attribute.getValue();
  auto fn = dyn_cast<FunctionOpInterface>(op);
  if (!fn || fn.getNumArguments() || fn.getNumResults() ||
      !fn.getFunctionBody().hasOneBlock())
    return emitError(op->getLoc())
           << "expected a fragment to be a function of one block without "
              "arguments and results, found another";
  return success();
}
