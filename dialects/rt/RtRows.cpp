//===- RtRows.cpp - the ops as which text has rows ------------------------===//
//
// An op is written as the row that it would be in a timeline.
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

void mtc::rt::addRow(RowWriter &rows, const StepOp::Properties &step) {
  RowData row;
  bool runs = step.kind && step.kind.getValue() == StepKind::Run;
  row.kind = runs ? RowKind::Run : RowKind::Load;
  if (step.fragment)
    row.fragment = rows.add(step.fragment.getAttr());
  if (step.microbatch)
    row.microbatch = step.microbatch.getInt();
  if (step.slots)
    row.slots = rows.addSlots(step.slots.getNumbers());
  rows.addRow(row);
}

void mtc::rt::addRow(RowWriter &rows, const ExchangeOp::Properties &exchange) {
  RowData row;
  row.kind = RowKind::Exchange;
  if (exchange.part)
    row.kind = exchange.part.getValue() == mtc::pipe::ExchangePart::Post
                   ? RowKind::Post
                   : RowKind::Wait;
  SmallVector<Transfer> transfers;
  for (auto t : exchange.transfers.getAsRange<TransferAttr>())
    transfers.push_back({t.getSend(), t.getPeer(), t.getTag().tag(),
                         t.getOffset(), t.getBytes()});
  row.transfers = rows.addTransfers(ArrayRef<Transfer>(transfers));
  rows.addRow(row);
}

template <typename Op> static void printAsRow(OpAsmPrinter &p, Op op) {
  RowWriter row;
  addRow(row, op.getProperties());
  row.addText(op->getDiscardableAttrDictionary(), op.getLoc());
  printRow(p.getStream(), row.finish(), 0);
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

void StepOp::print(OpAsmPrinter &p) { printAsRow(p, *this); }

ParseResult ExchangeOp::parse(OpAsmParser &parser, OperationState &result) {
  auto &row = result.getOrAddProperties<Properties>();
  if (mtc::pipe::parseExchange(parser, row.part, row.transfers))
    return failure();
  return parseFurther(parser, result);
}

void ExchangeOp::print(OpAsmPrinter &p) { printAsRow(p, *this); }
