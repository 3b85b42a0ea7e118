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

LogicalResult PerPoolAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> numbers) {
  assert(numbers.size() == MTC_POOL_COUNT && "the parser gives all of them");
  for (const PoolInfo &pool : kPools)
    if (int64_t n = numbers[pool.id];
        n != kNone && (n < 0 || n >= std::numeric_limits<int32_t>::max()))
      return emitError() << "expected a number of 32 bits for " << pool.name
                         << ", counted from 0, found " << n;
  return success();
}

Attribute PerPoolAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> numbers(MTC_POOL_COUNT, kNone);
  auto one = [&]() -> ParseResult {
    SMLoc place = parser.getCurrentLocation();
    FailureOr<MtcPool> pool = parseNamed<MtcPool>(parser);
    if (failed(pool) || parser.parseEqual() ||
        parser.parseInteger(numbers[*pool]))
      return failure();
    if (numbers[*pool] < 0)
      return parser.emitError(place, "expected numbers that count from 0");
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, one))
    return {};
  return getChecked([&] { return parser.emitError(parser.getNameLoc()); },
                    parser.getContext(), ArrayRef(numbers));
}

void PerPoolAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::ListSeparator comma;
  for (const PoolInfo &pool : kPools)
    if (std::optional<int64_t> number = of(pool.id))
      printer << StringRef(comma) << pool.name << " = " << *number;
  printer << ">";
}
