//===- DistAttrs.cpp - mesh and sharding: text form and queries -----------===//
#include "dialects/dist/Dist.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mtc::dist;

#define GET_ATTRDEF_CLASSES
#include "dialects/dist/DistAttrs.cpp.inc"

void DistDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/dist/DistAttrs.cpp.inc"
      >();
}

//===--- mesh -------------------------------------------------------------===//

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> sizes;
  auto one = [&]() -> ParseResult {
    std::string name;
    int64_t size;
    if (parser.parseString(&name) || parser.parseEqual() ||
        parser.parseInteger(size))
      return failure();
    axes.push_back(parser.getBuilder().getStringAttr(name));
    sizes.push_back(size);
    return success();
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, one) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(parser.getNameLoc()); },
                    parser.getContext(), ArrayRef(axes), ArrayRef(sizes));
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(
      llvm::zip(getAxes(), getSizes()), printer,
      [&](auto it) { printer << std::get<0>(it) << " = " << std::get<1>(it); });
  printer << "]>";
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> axes,
                               ArrayRef<int64_t> sizes) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (sizes[i] < 1)
      return emitError() << "expected sizes of at least 1, found " << axes[i]
                         << " = " << sizes[i];
    if (llvm::is_contained(axes.take_front(i), axes[i]))
      return emitError() << "expected axes with different names, found "
                         << axes[i] << " twice";
  }
  return success();
}

int64_t MeshAttr::indexOf(StringRef axis) const {
  for (auto [i, name] : llvm::enumerate(getAxes()))
    if (name.getValue() == axis)
      return i;
  return -1;
}

int64_t MeshAttr::sizeOf(StringRef axis) const {
  int64_t i = indexOf(axis);
  return i < 0 ? 1 : getSizes()[i];
}

//===--- sharding ---------------------------------------------------------===//

/// `{"dp", "tp"}`; each axis is appended with `state`.
static ParseResult parseAxes(AsmParser &parser, int64_t state,
                             SmallVectorImpl<StringAttr> &axes,
                             SmallVectorImpl<int64_t> &states) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Braces, [&]() -> ParseResult {
        std::string name;
        if (parser.parseString(&name))
          return failure();
        axes.push_back(parser.getBuilder().getStringAttr(name));
        states.push_back(state);
        return success();
      });
}

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> states;
  int64_t rank = 0;
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parseAxes(parser, rank++, axes, states);
      }))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef keyword;
    if (parser.parseKeyword(&keyword) || parser.parseEqual())
      return {};
    if (keyword != "partial" && keyword != "max") {
      parser.emitError(parser.getCurrentLocation(),
                       "expected 'partial' or 'max', found '")
          << keyword << "'";
      return {};
    }
    if (parseAxes(parser, keyword == "max" ? kMax : kPartial, axes, states))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(parser.getNameLoc()); },
                    parser.getContext(), rank, ArrayRef(axes),
                    ArrayRef(states));
}

void ShardingAttr::print(AsmPrinter &printer) const {
  auto list = [&](int64_t state) {
    printer << "{";
    bool first = true;
    for (auto [axis, s] : llvm::zip(getAxes(), getStates()))
      if (s == state) {
        printer << (first ? "" : ", ") << axis;
        first = false;
      }
    printer << "}";
  };
  printer << "<[";
  for (int64_t dim = 0; dim < getRank(); ++dim) {
    printer << (dim ? ", " : "");
    list(dim);
  }
  printer << "]";
  if (llvm::is_contained(getStates(), kPartial)) {
    printer << ", partial = ";
    list(kPartial);
  }
  if (llvm::is_contained(getStates(), kMax)) {
    printer << ", max = ";
    list(kMax);
  }
  printer << ">";
}

LogicalResult ShardingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t rank, ArrayRef<StringAttr> axes,
                                   ArrayRef<int64_t> states) {
  if (axes.size() != states.size())
    return emitError() << "expected one state per axis, found " << states.size()
                       << " for " << axes.size() << " axes";
  for (size_t i = 0; i < axes.size(); ++i) {
    if (states[i] >= rank || states[i] < kMax || states[i] == kReplicated)
      return emitError() << "expected a dimension below " << rank
                         << " or a partial state, found " << states[i]
                         << " for axis " << axes[i];
    if (llvm::is_contained(axes.take_front(i), axes[i]))
      return emitError() << "expected each axis once, found " << axes[i]
                         << " twice";
  }
  return success();
}

int64_t ShardingAttr::stateOf(StringRef axis) const {
  for (auto [name, state] : llvm::zip(getAxes(), getStates()))
    if (name.getValue() == axis)
      return state;
  return kReplicated;
}

ShardingAttr ShardingAttr::with(MeshAttr mesh, StringRef axis,
                                int64_t state) const {
  // Canonical order, so that equal shardings are equal attributes: by
  // dimension, partial last, then by mesh axis; the same order as printed.
  SmallVector<std::tuple<int64_t, int64_t, StringAttr>> entries;
  auto key = [](int64_t s) { return s >= 0 ? s : 1000000 - s; };
  for (auto name : mesh.getAxes()) {
    int64_t s = name.getValue() == axis ? state : stateOf(name);
    if (s != kReplicated)
      entries.push_back({s, mesh.indexOf(name), name});
  }
  llvm::sort(entries, [&](auto &a, auto &b) {
    return std::tuple(key(std::get<0>(a)), std::get<1>(a)) <
           std::tuple(key(std::get<0>(b)), std::get<1>(b));
  });
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> states;
  for (auto &[s, i, name] : entries) {
    axes.push_back(name);
    states.push_back(s);
  }
  return get(getContext(), getRank(), axes, states);
}

ShardingAttr ShardingAttr::replicated(MLIRContext *context, int64_t rank) {
  return get(context, rank, ArrayRef<StringAttr>(), ArrayRef<int64_t>());
}

SmallVector<int64_t> ShardingAttr::localShape(ArrayRef<int64_t> global,
                                              MeshAttr mesh) const {
  SmallVector<int64_t> local(global);
  for (auto [axis, state] : llvm::zip(getAxes(), getStates()))
    if (state >= 0)
      local[state] /= mesh.sizeOf(axis);
  return local;
}

Split mtc::dist::splitOf(ShardingAttr sharding, MeshAttr mesh,
                         ArrayRef<int64_t> local, int64_t first) {
  Split split{StringAttr(), -1, SmallVector<int64_t>(local)};
  if (!sharding || !mesh)
    return split;
  for (auto [axis, state] :
       llvm::zip(sharding.getAxes(), sharding.getStates())) {
    if (state < first || state >= static_cast<int64_t>(local.size()))
      continue;
    split.axis = axis;
    split.dim = state;
    split.shape[state] *= mesh.sizeOf(axis);
    return split;
  }
  return split;
}
