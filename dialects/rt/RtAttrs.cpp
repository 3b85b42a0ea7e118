//===- RtAttrs.cpp - attributes of the rt dialect -------------------------===//
#include "dialects/rt/Rt.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mtc::rt;

std::string_view mtc::rt::variableName(unsigned variable) {
  switch (variable) {
  case kMicrobatch:
    return "microbatch";
  case kSample:
    return "sample";
  case kSeed:
    return "seed";
  }
  return axisName(static_cast<MtcAxis>(variable));
}

static std::optional<unsigned> variableNamed(StringRef name) {
  for (unsigned v = 0; v < kVariables; ++v)
    if (name == StringRef(variableName(v)))
      return v;
  return std::nullopt;
}

AffineAttr AffineAttr::of(MLIRContext *context, const Affine &form) {
  return get(context, form.constant, form.factors);
}

Affine AffineAttr::form() const {
  Affine form;
  form.constant = getConstant();
  llvm::copy(getFactors(), form.factors.begin());
  return form;
}

LogicalResult AffineAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t, ArrayRef<int64_t> factors) {
  if (factors.size() == kVariables)
    return success();
  return emitError() << "expected " << kVariables << " factors, found "
                     << factors.size();
}

/// A term: `2 * dp`, `dp`, or `3`.
static ParseResult parseTerm(AsmParser &parser, Affine &form) {
  int64_t factor = 1;
  OptionalParseResult number = parser.parseOptionalInteger(factor);
  if (number.has_value() && failed(*number))
    return failure();
  if (number.has_value() && failed(parser.parseOptionalStar())) {
    form.constant += factor;
    return success();
  }
  SMLoc place = parser.getCurrentLocation();
  StringRef name;
  std::optional<unsigned> variable;
  if (succeeded(parser.parseOptionalKeyword(&name)))
    variable = variableNamed(name);
  if (!variable) {
    auto diag = parser.emitError(place, "expected a number or one of ");
    llvm::interleaveComma(llvm::seq<unsigned>(0, kVariables), diag,
                          [&](unsigned v) { diag << variableName(v); });
    return diag;
  }
  form[*variable] += factor;
  return success();
}

Attribute AffineAttr::parse(AsmParser &parser, Type) {
  Affine form;
  if (parser.parseLess())
    return {};
  do
    if (parseTerm(parser, form))
      return {};
  while (succeeded(parser.parseOptionalPlus()));
  if (parser.parseGreater())
    return {};
  return of(parser.getContext(), form);
}

void AffineAttr::print(AsmPrinter &printer) const {
  Affine form = this->form();
  bool first = true;
  auto next = [&]() -> AsmPrinter & {
    if (!first)
      printer << " + ";
    first = false;
    return printer;
  };
  printer << "<";
  for (unsigned v = 0; v < kVariables; ++v)
    if (form[v] == 1)
      next() << variableName(v);
    else if (form[v] != 0)
      next() << form[v] << " * " << variableName(v);
  if (form.constant != 0 || first)
    next() << form.constant;
  printer << ">";
}

Attribute GroupsAttr::parse(AsmParser &parser, Type) {
  SmallVector<MtcGroup> groups;
  auto one = [&]() -> ParseResult {
    FailureOr<MtcGroup> group = parseNamed<MtcGroup>(parser);
    if (failed(group))
      return failure();
    groups.push_back(*group);
    return success();
  };
  if (parseAngleList(parser, one))
    return {};
  llvm::sort(groups);
  groups.erase(llvm::unique(groups), groups.end());
  return get(parser.getContext(), groups);
}

void GroupsAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getGroups(), printer,
                        [&](MtcGroup group) { printer << nameOf(group); });
  printer << ">";
}

LogicalResult TagAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              mtc::CrossingName value, int64_t microbatch,
                              int64_t virtualStage) {
  std::string text = problemOf(mtc::Tag{value, microbatch, virtualStage});
  return text.empty() ? success() : emitError() << text;
}

// Where the generated parsers and printers are.
#define GET_ATTRDEF_CLASSES
#include "dialects/rt/RtAttrs.cpp.inc"

void RtDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/rt/RtAttrs.cpp.inc"
      >();
}
