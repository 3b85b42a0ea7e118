//===- RtRows.cpp - the text of a timeline's rows -------------------------===//
//
// By hand, as a plan has a row per microbatch: a declarative format prints
// `attr-dict` from a dictionary of all attributes, which the context makes for
// each row and keeps.
//
//===----------------------------------------------------------------------===//
#include "dialects/rt/Rt.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mtc::rt;

/// Attributes that the op does not know, behind its own.
static ParseResult parseFurther(OpAsmParser &parser, OperationState &result) {
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(result.attributes))
    return failure();
  // A second value of what has its place in the text.
  return result.name.verifyInherentAttrs(result.attributes, [&] {
    return parser.emitError(place) << "'" << result.name << "' op ";
  });
}

static void printFurther(OpAsmPrinter &p, Operation *op) {
  p.printOptionalAttrDict(op->getDiscardableAttrDictionary().getValue());
}

ParseResult StepOp::parse(OpAsmParser &parser, OperationState &result) {
  auto &row = result.getOrAddProperties<Properties>();
  if (parser.parseCustomAttributeWithFallback(row.kind))
    return failure();
  OptionalParseResult fragment = parser.parseOptionalAttribute(row.fragment);
  if (fragment.has_value() && failed(*fragment))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("microbatch")) &&
      parser.parseCustomAttributeWithFallback(row.microbatch,
                                              parser.getBuilder().getI64Type()))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("slots")) &&
      parser.parseCustomAttributeWithFallback(row.slots))
    return failure();
  return parseFurther(parser, result);
}

void StepOp::print(OpAsmPrinter &p) {
  p.printStrippedAttrOrType(getKindAttr());
  if (FlatSymbolRefAttr fragment = getFragmentAttr()) {
    p << ' ';
    p.printAttributeWithoutType(fragment);
  }
  if (getMicrobatchAttr()) {
    p << " microbatch ";
    p.printAttributeWithoutType(getMicrobatchAttr());
  }
  if (getSlotsAttr()) {
    p << " slots ";
    p.printStrippedAttrOrType(getSlotsAttr());
  }
  printFurther(p, *this);
}

ParseResult ExchangeOp::parse(OpAsmParser &parser, OperationState &result) {
  auto &row = result.getOrAddProperties<Properties>();
  if (mtc::pipe::parseExchange(parser, row.part, row.transfers))
    return failure();
  return parseFurther(parser, result);
}

void ExchangeOp::print(OpAsmPrinter &p) {
  p << ' ';
  mtc::pipe::printExchange(p, *this, getPartAttr(), getTransfersAttr());
  printFurther(p, *this);
}
