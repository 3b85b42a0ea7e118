//===- Rt.cpp - registration of the rt dialect ----------------------------===//
#include "dialects/rt/Rt.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace mtc::rt;

#include "dialects/rt/RtDialect.cpp.inc"
#include "dialects/rt/RtEnums.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/rt/RtOps.cpp.inc"

void RtDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/rt/RtOps.cpp.inc"
      >();
}

int64_t mtc::rt::bytesOf(Type type) {
  auto shaped = cast<ShapedType>(type);
  if (!shaped.getElementType().isIntOrFloat())
    return std::numeric_limits<int64_t>::max();
  int64_t bytes = (shaped.getElementTypeBitWidth() + 7) / 8;
  for (int64_t dim : shaped.getShape())
    if (llvm::MulOverflow(bytes, dim, bytes))
      return std::numeric_limits<int64_t>::max();
  return bytes;
}
