//===- RowTable.cpp - the text that rows of all levels share --------------===//
#include "dialects/pipe/RowTable.h"

#include "dialects/Tables.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mtc::pipe;

ParseResult mtc::pipe::parseRowLines(
    OpAsmParser &parser,
    llvm::function_ref<ParseResult(OperationState &)> parseRow) {
  if (parser.parseLBrace())
    return failure();
  while (failed(parser.parseOptionalRBrace())) {
    SMLoc place = parser.getCurrentLocation();
    FailureOr<OperationName> name = parser.parseCustomOperationName();
    if (failed(name))
      return failure();
    OperationState state(parser.getEncodedSourceLoc(place), *name);
    std::optional<Location> part; // a row is of its timeline's
    if (parseRow(state) || parser.parseOptionalLocationSpecifier(part))
      return failure();
  }
  return success();
}

void mtc::pipe::printRowLines(
    OpAsmPrinter &printer, size_t rows,
    llvm::function_ref<void(raw_ostream &, size_t)> print) {
  printer << '{';
  printer.increaseIndent();
  for (size_t row = 0; row < rows; ++row) {
    printer.printNewline();
    print(printer.getStream(), row);
  }
  printer.decreaseIndent();
  printer.printNewline();
  printer << '}';
}

void mtc::pipe::printSlots(raw_ostream &out, SlotList slots) {
  out << '<';
  llvm::ListSeparator comma;
  for (auto [pool, slot] : llvm::enumerate(slots.getNumbers()))
    if (slot != SlotList::kNone)
      out << comma << poolName(static_cast<MtcPool>(pool)) << " = " << slot;
  out << '>';
}

std::string mtc::pipe::problemOf(MtcPool pool, int64_t number) {
  if (number >= 0 && number < std::numeric_limits<int32_t>::max())
    return "";
  return "expected a number of 32 bits for " + poolName(pool) +
         ", counted from 0, found " + std::to_string(number);
}

std::string mtc::pipe::problemOf(SlotList slots) {
  for (auto [pool, slot] : llvm::enumerate(slots.getNumbers()))
    if (slot != SlotList::kNone)
      if (std::string text = problemOf(static_cast<MtcPool>(pool), slot);
          !text.empty())
        return text;
  return "";
}

void mtc::pipe::printFurther(raw_ostream &out, DictionaryAttr further) {
  if (further && !further.empty())
    out << ' ' << further;
}

Attribute
mtc::pipe::textOfRows(MLIRContext *context, size_t rows,
                      llvm::function_ref<void(raw_ostream &, size_t)> print) {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (size_t row = 0; row < rows; ++row) {
    print(out, row);
    out << '\n';
  }
  return StringAttr::get(context, text);
}

Operation *
mtc::pipe::readTextOfRows(StringRef head, Attribute attribute, Block &block,
                          llvm::function_ref<InFlightDiagnostic()> emitError) {
  if (auto text = dyn_cast<StringAttr>(attribute)) {
    ParserConfig config(text.getContext(), /*verifyAfterParse=*/false);
    std::string source = (head + " {\n" + text.getValue() + "}").str();
    if (succeeded(parseSourceString(source, &block, config)) &&
        llvm::hasSingleElement(block))
      return &block.front();
  }
  if (emitError)
    emitError() << "expected rows as a string of their text, found others";
  return nullptr;
}

LogicalResult
mtc::pipe::verifyFurther(Operation *timeline,
                         ArrayRef<std::pair<size_t, DictionaryAttr>> further) {
  for (auto [row, attributes] : further)
    for (NamedAttribute each : attributes)
      if (Dialect *dialect = each.getNameDialect())
        if (failed(dialect->verifyOperationAttribute(timeline, each)))
          return failure();
  return success();
}

Location mtc::pipe::placeOfRow(Operation *timeline,
                               ArrayRef<LocationAttr> places, size_t row) {
  if (row >= places.size())
    return timeline->getLoc();
  return FusedLoc::get(timeline->getContext(),
                       {Location(places[row]), timeline->getLoc()});
}
