//===- PipeAttrs.cpp - attributes of the pipe dialect ---------------------===//
#include "dialects/pipe/Pipe.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::pipe;

#define GET_ATTRDEF_CLASSES
#include "dialects/pipe/PipeAttrs.cpp.inc"

void PipeDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/pipe/PipeAttrs.cpp.inc"
      >();
}

template <> FailureOr<MtcPool> mtc::parseNamed<MtcPool>(AsmParser &parser) {
  SMLoc place = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseOptionalKeyword(&name).succeeded())
    if (std::optional<MtcPool> pool = poolNamed(name))
      return *pool;
  auto diag = parser.emitError(place, "expected a pool (")
              << namesOf(kPools) << ", or of a further value, as in "
              << poolName(receivePool({false, 1})) << ")";
  if (!name.empty())
    diag << ", found " << name;
  return diag;
}

FailureOr<CrossingName> mtc::parseCrossingName(AsmParser &parser) {
  SMLoc place = parser.getCurrentLocation();
  StringRef text;
  if (parser.parseOptionalKeyword(&text).succeeded())
    if (std::optional<CrossingName> name = crossingNamed(text))
      return *name;
  auto diag = parser.emitError(place, "expected a value that crosses: "
                                      "activation or gradient, or a further "
                                      "one, activation.1 to gradient.")
              << CrossingName::kNumbers - 1;
  if (!text.empty())
    diag << ", found " << text;
  return diag;
}

std::string FragmentAttr::formSuffix() const {
  if (getForm() == Form::Plain)
    return "";
  std::string text = "_" + stringifyForm(getForm());
  std::replace(text.begin(), text.end(), '|', '_');
  return text;
}

PerPoolAttr PerPoolAttr::of(MLIRContext *context, ArrayRef<int64_t> numbers) {
  while (!numbers.empty() && numbers.back() == kNone)
    numbers = numbers.drop_back();
  return get(context, numbers);
}

SmallVector<std::pair<MtcPool, int64_t>> PerPoolAttr::entries() const {
  SmallVector<std::pair<MtcPool, int64_t>> all;
  for (auto [pool, number] : llvm::enumerate(getNumbers()))
    if (number != kNone)
      all.push_back({static_cast<MtcPool>(pool), number});
  return all;
}

LogicalResult PerPoolAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> numbers) {
  for (auto [pool, n] : llvm::enumerate(numbers))
    if (std::string text = problemOf(static_cast<MtcPool>(pool), n);
        n != kNone && !text.empty())
      return emitError() << text;
  return success();
}

Attribute PerPoolAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> numbers;
  auto one = [&]() -> ParseResult {
    SMLoc place = parser.getCurrentLocation();
    FailureOr<MtcPool> pool = parseNamed<MtcPool>(parser);
    if (failed(pool))
      return failure();
    if (numbers.size() <= *pool)
      numbers.resize(*pool + 1, kNone);
    if (numbers[*pool] != kNone)
      return parser.emitError(place, "expected each pool once, found ")
             << poolName(*pool) << " twice";
    if (parser.parseEqual() || parser.parseInteger(numbers[*pool]))
      return failure();
    if (numbers[*pool] < 0)
      return parser.emitError(place, "expected numbers that count from 0");
    return success();
  };
  if (parseAngleList(parser, one))
    return {};
  return getChecked([&] { return parser.emitError(parser.getNameLoc()); },
                    parser.getContext(), ArrayRef(numbers));
}

void PerPoolAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::ListSeparator comma;
  for (auto [pool, number] : entries())
    printer << StringRef(comma) << poolName(pool) << " = " << number;
  printer << ">";
}

ParseResult mtc::pipe::parseExchange(OpAsmParser &parser,
                                     ExchangePartAttr &part,
                                     ArrayAttr &transfers) {
  StringRef word;
  SMLoc place = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword(&word))) {
    std::optional<ExchangePart> named = symbolizeExchangePart(word);
    if (!named)
      return parser.emitError(place)
             << "expected post, wait or transfers, found " << word;
    part = ExchangePartAttr::get(parser.getContext(), *named);
  }
  return parser.parseCustomAttributeWithFallback(transfers);
}

void mtc::pipe::printExchange(OpAsmPrinter &printer, Operation *,
                              ExchangePartAttr part, ArrayAttr transfers) {
  if (part)
    printer << stringifyExchangePart(part.getValue()) << ' ';
  printer.printAttributeWithoutType(transfers);
}
