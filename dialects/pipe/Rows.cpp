//===- Rows.cpp - the rows of a pipe.timeline -----------------------------===//
#include "dialects/pipe/Pipe.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::pipe;

llvm::hash_code mtc::pipe::hash_value(const Transfer &transfer) {
  return llvm::hash_combine(transfer.send, transfer.value, transfer.microbatch,
                            transfer.virtualStage, transfer.peer,
                            transfer.slot);
}

llvm::hash_code mtc::pipe::hash_value(const RowData &row) {
  return llvm::hash_combine(row.kind, row.form, row.phase, row.microbatch,
                            row.chunk, row.slots.count, row.transfers.count);
}

StringRef Row::getName() const {
  return isSlot() ? SlotOp::getOperationName() : ExchangeOp::getOperationName();
}

Location TimelineOp::placeOf(size_t row) {
  return placeOfRow(*this, getRows().getTable().places, row);
}

InFlightDiagnostic TimelineOp::emitRowError(size_t row) {
  return mlir::emitError(placeOf(row))
         << "'" << getRows()[row].getName() << "' op ";
}

LogicalResult TimelineOp::verify() {
  Rows rows = getRows();
  for (auto [at, row] : llvm::enumerate(rows.all()))
    if (std::string text = problemOf(row.getSlots()); !text.empty())
      return emitRowError(at) << text;
  return verifyFurther(*this, rows.getTable().further);
}

//===--- text
//----------------------------------------------------------------===//

static void printSlot(raw_ostream &out, const Row &row, StringAttr phase) {
  out << ' ';
  phase.print(out, /*elideType=*/true);
  out << " microbatch " << row.getMicrobatch() << " chunk " << row.getChunk();
  if (row.getForm() != Form::Plain)
    out << " form  " << stringifyForm(row.getForm());
  out << " slots ";
  printSlots(out, row.getSlots());
}

static void print(raw_ostream &out, const Transfer &t) {
  out << "#pipe.transfer<send = " << (t.send ? "true" : "false")
      << ", value = " << t.value.text() << ", microbatch = " << t.microbatch
      << ", virtual_stage = " << t.virtualStage << ", peer = " << t.peer
      << ", slot = " << t.slot << '>';
}

static void printExchange(raw_ostream &out, const Row &row) {
  out << (row.posts() ? " post [" : row.waits() ? " wait [" : " [");
  llvm::ListSeparator comma;
  for (const Transfer &transfer : row.getTransfers()) {
    out << comma;
    ::print(out, transfer);
  }
  out << ']';
}

static void printLine(raw_ostream &out, const Rows &rows, size_t at) {
  Row row = rows[at];
  const TimelineTable &table = rows.getTable();
  out << row.getName();
  if (row.isSlot())
    printSlot(out, row, table.names[row.phaseIndex()]);
  else
    ::printExchange(out, row);
  printFurther(out, table.furtherOf(at));
}

void mtc::pipe::printRows(OpAsmPrinter &printer, Operation *,
                          const Rows &rows) {
  printRowLines(printer, rows.size(),
                [&](raw_ostream &out, size_t at) { printLine(out, rows, at); });
}

static void addRow(TimelineWriter &rows, const SlotOp::Properties &slot) {
  RowData row;
  row.phase = rows.add(slot.phase);
  row.microbatch = slot.microbatch.getInt();
  row.chunk = slot.chunk.getInt();
  if (slot.form)
    row.form = slot.form.getValue();
  row.slots = rows.addSlots(slot.slots.getNumbers());
  rows.addRow(row);
}

static void addRow(TimelineWriter &rows,
                   const ExchangeOp::Properties &exchange) {
  RowData row;
  row.kind = RowKind::Exchange;
  if (exchange.part)
    row.kind = exchange.part.getValue() == ExchangePart::Post ? RowKind::Post
                                                              : RowKind::Wait;
  SmallVector<Transfer> transfers;
  for (auto t : exchange.transfers.getAsRange<TransferAttr>())
    transfers.push_back({t.getSend(), t.getValue(), t.getMicrobatch(),
                         t.getVirtualStage(), t.getPeer(), t.getSlot()});
  row.transfers = rows.addTransfers(ArrayRef<Transfer>(transfers));
  rows.addRow(row);
}

/// Reads a row as its op does, and keeps it.
template <typename Op>
static ParseResult parseRow(OpAsmParser &parser, OperationState &state,
                            TimelineWriter &rows) {
  if (Op::parse(parser, state))
    return failure();
  auto &row = state.getOrAddProperties<typename Op::Properties>();
  FailureOr<DictionaryAttr> further = takeFurther<Op>(state, row);
  if (failed(further))
    return failure();
  ::addRow(rows, row);
  rows.addText(*further, state.location);
  return success();
}

ParseResult mtc::pipe::parseRows(OpAsmParser &parser, Rows &rows) {
  TimelineWriter writer;
  auto parse = [&](OperationState &state) -> ParseResult {
    StringRef name = state.name.getStringRef();
    if (name == SlotOp::getOperationName())
      return parseRow<SlotOp>(parser, state, writer);
    if (name == ExchangeOp::getOperationName())
      return parseRow<ExchangeOp>(parser, state, writer);
    return emitError(state.location)
           << "'" << name
           << "' expected rows that are pipe.slot or pipe.exchange, found "
              "another op";
  };
  if (parseRowLines(parser, parse))
    return failure();
  rows = writer.finish();
  return success();
}

//===--- generic form and bytecode
//-------------------------------------------===//

Attribute mtc::pipe::convertToAttribute(MLIRContext *context,
                                        const Rows &rows) {
  return textOfRows(context, rows.size(), [&](raw_ostream &out, size_t at) {
    printLine(out, rows, at);
  });
}

LogicalResult mtc::pipe::convertFromAttribute(
    Rows &rows, Attribute text,
    llvm::function_ref<InFlightDiagnostic()> emitError) {
  Block block;
  auto read = dyn_cast_if_present<TimelineOp>(
      readTextOfRows("pipe.timeline @rows entry \"\" stage 0 pools <>", text,
                     block, emitError));
  if (!read)
    return failure();
  TimelineTable table = read.getRows().getTable();
  table.places.clear(); // these are of the string
  rows = Rows(std::move(table));
  return success();
}
