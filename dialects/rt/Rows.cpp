//===- Rows.cpp - the rows of an rt.timeline ------------------------------===//
#include "dialects/rt/Rt.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::rt;

llvm::hash_code mtc::rt::hash_value(const Transfer &transfer) {
  return llvm::hash_combine(transfer.send, transfer.peer, transfer.tag.value,
                            transfer.tag.microbatch, transfer.tag.virtualStage,
                            transfer.offset, transfer.bytes);
}

llvm::hash_code mtc::rt::hash_value(const RowData &row) {
  return llvm::hash_combine(row.kind, row.fragment, row.microbatch.value_or(-1),
                            row.slots.count, row.transfers.count);
}

StringRef Row::getName() const {
  return isStep() ? StepOp::getOperationName() : ExchangeOp::getOperationName();
}

Rows Rows::renamed(llvm::function_ref<StringAttr(StringAttr)> rename) const {
  RowTable table = getTable();
  for (StringAttr &name : table.names)
    name = rename(name);
  return Rows(std::move(table));
}

std::string mtc::rt::problemOf(const Tag &tag) {
  if (tag.fits())
    return "";
  return "expected fewer than " + std::to_string(Tag::kMicrobatches) +
         " microbatches and " + std::to_string(Tag::kStages) +
         " virtual stages, found microbatch " + std::to_string(tag.microbatch) +
         " of virtual stage " + std::to_string(tag.virtualStage);
}

std::string mtc::rt::problemOf(const Row &row) {
  bool runs = row.isRun();
  if (row.isStep() && runs != bool(row.getFragment()))
    return std::string("expected ") + (runs ? "a fragment to run, found none"
                                            : "no fragment to load, found one");
  if (row.isLoad() && !row.getMicrobatch())
    return "expected a microbatch to load, found none";
  if (std::optional<pipe::SlotList> slots = row.getSlots())
    return problemOf(*slots);
  for (const Transfer &transfer : row.getTransfers())
    if (std::string text = problemOf(transfer.tag); !text.empty())
      return text;
  return "";
}

Location TimelineOp::placeOf(size_t row) {
  return pipe::placeOfRow(*this, getRows().getTable().places, row);
}

LogicalResult TimelineOp::verify() {
  Rows rows = getRows();
  for (auto [at, row] : llvm::enumerate(rows.all()))
    if (std::string text = problemOf(row); !text.empty())
      return mlir::emitError(placeOf(at))
             << "'" << row.getName() << "' op " << text;
  return pipe::verifyFurther(*this, rows.getTable().further);
}

//===--- text
//----------------------------------------------------------------===//

static void print(raw_ostream &out, const Transfer &t) {
  out << "#rt.transfer<send = " << (t.send ? "true" : "false")
      << ", peer = " << t.peer << ", tag = <value = " << t.tag.value.text()
      << ", microbatch = " << t.tag.microbatch
      << ", virtual_stage = " << t.tag.virtualStage
      << ">, offset = " << t.offset << ", bytes = " << t.bytes << '>';
}

std::string mtc::rt::textOf(const Transfer &transfer) {
  std::string text;
  llvm::raw_string_ostream out(text);
  ::print(out, transfer);
  return text;
}

static void printStep(raw_ostream &out, const Row &row) {
  out << (row.isRun() ? " run" : " load");
  if (StringAttr fragment = row.getFragment())
    out << ' ' << FlatSymbolRefAttr::get(fragment);
  if (std::optional<int64_t> microbatch = row.getMicrobatch())
    out << " microbatch " << *microbatch;
  if (std::optional<pipe::SlotList> slots = row.getSlots()) {
    out << " slots ";
    pipe::printSlots(out, *slots);
  }
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

void mtc::rt::printRow(raw_ostream &out, const Rows &rows, size_t at) {
  Row row = rows[at];
  if (row.isStep())
    printStep(out, row);
  else
    ::printExchange(out, row);
  pipe::printFurther(out, rows.getTable().furtherOf(at));
}

static void printLine(raw_ostream &out, const Rows &rows, size_t at) {
  out << rows[at].getName();
  printRow(out, rows, at);
}

void mtc::rt::printRows(OpAsmPrinter &printer, Operation *, const Rows &rows) {
  pipe::printRowLines(printer, rows.size(), [&](raw_ostream &out, size_t at) {
    printLine(out, rows, at);
  });
}

/// Reads a row as its op does, and keeps it.
template <typename Op>
static ParseResult parseRow(OpAsmParser &parser, OperationState &state,
                            RowWriter &rows) {
  if (Op::parse(parser, state))
    return failure();
  auto &row = state.getOrAddProperties<typename Op::Properties>();
  FailureOr<DictionaryAttr> further = pipe::takeFurther<Op>(state, row);
  if (failed(further))
    return failure();
  addRow(rows, row);
  rows.addText(*further, state.location);
  return success();
}

ParseResult mtc::rt::parseRows(OpAsmParser &parser, Rows &rows) {
  RowWriter writer;
  auto parse = [&](OperationState &state) -> ParseResult {
    StringRef name = state.name.getStringRef();
    if (name == StepOp::getOperationName())
      return parseRow<StepOp>(parser, state, writer);
    if (name == ExchangeOp::getOperationName())
      return parseRow<ExchangeOp>(parser, state, writer);
    return emitError(state.location)
           << "'" << name
           << "' expected rows that are rt.step or rt.exchange, found another "
              "op";
  };
  if (pipe::parseRowLines(parser, parse))
    return failure();
  rows = writer.finish();
  return success();
}

//===--- generic form and bytecode
//-------------------------------------------===//

Attribute mtc::rt::convertToAttribute(MLIRContext *context, const Rows &rows) {
  return pipe::textOfRows(
      context, rows.size(),
      [&](raw_ostream &out, size_t at) { printLine(out, rows, at); });
}

LogicalResult mtc::rt::convertFromAttribute(
    Rows &rows, Attribute text,
    llvm::function_ref<InFlightDiagnostic()> emitError) {
  Block block;
  auto read = dyn_cast_if_present<TimelineOp>(
      pipe::readTextOfRows("rt.timeline @rows", text, block, emitError));
  if (!read)
    return failure();
  RowTable table = read.getRows().getTable();
  table.places.clear(); // these are of the string
  rows = Rows(std::move(table));
  return success();
}
