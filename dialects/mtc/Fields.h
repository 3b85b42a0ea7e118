//===- Fields.h - attributes as named fields --------------------*- C++ -*-===//
//
// The text form `<micro = 2, global = 16>`: fields in any order, each of a
// struct whose `each(visit)` calls visit(name, member) for all of them.
// TableGen's `struct` directive would do, but it does not say which field is
// missing.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_DIALECTS_MTC_FIELDS_H
#define MTC_DIALECTS_MTC_FIELDS_H

#include "dialects/Tables.h"
#include "dialects/mtc/Mtc.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"

namespace mtc {

template <typename T> constexpr bool kIsOptional = false;
template <typename T> constexpr bool kIsOptional<std::optional<T>> = true;

template <typename T>
constexpr bool kMayLack =
    kIsOptional<T> || std::is_same_v<T, mlir::StringAttr> ||
    std::is_same_v<T, mlir::ArrayAttr> || std::is_same_v<T, RecomputeAttr>;

template <typename T>
mlir::ParseResult parseField(mlir::AsmParser &parser, T &to) {
  mlir::FailureOr<T> found;
  if constexpr (std::is_same_v<T, Mesh>)
    found = parseMesh(parser);
  else if constexpr (kIsOptional<T>)
    // A field that is named has a value: FieldParser would take none for none.
    found = mlir::FieldParser<typename T::value_type>::parse(parser);
  else
    found = mlir::FieldParser<T>::parse(parser);
  if (mlir::succeeded(found))
    to = *found;
  return mlir::LogicalResult(found);
}

template <typename T>
void printField(mlir::AsmPrinter &printer, const T &value) {
  if constexpr (std::is_same_v<T, Mesh>)
    printMesh(printer, value);
  else if constexpr (std::is_same_v<T, std::string>)
    printer.printString(value);
  else if constexpr (std::is_enum_v<T>)
    printer << stringifyEnum(value);
  else if constexpr (kIsOptional<T>)
    printField(printer, *value);
  else if constexpr (std::is_same_v<T, int64_t>)
    printer << value;
  else
    printer.printStrippedAttrOrType(value);
}

/// Every field of `fields` once, but for those that may lack.
template <typename Fields>
mlir::ParseResult parseFields(mlir::AsmParser &parser, Fields &fields) {
  llvm::StringSet<> seen;
  std::string names;
  fields.each([&](llvm::StringRef name, auto &) {
    names += (names.empty() ? "" : ", ") + name.str();
  });
  auto one = [&]() -> mlir::ParseResult {
    llvm::SMLoc at = parser.getCurrentLocation();
    llvm::StringRef name;
    mlir::ParseResult result = mlir::failure();
    bool isKnown = false;
    if (parser.parseKeyword(&name))
      return mlir::failure();
    if (!seen.insert(name).second)
      return parser.emitError(at, "expected each field once, found ")
             << name << " twice";
    if (parser.parseEqual())
      return mlir::failure();
    fields.each([&](llvm::StringRef field, auto &to) {
      if (field != name)
        return;
      isKnown = true;
      result = parseField(parser, to);
    });
    if (!isKnown)
      return parser.emitError(at, "expected a field of ")
             << names << ", found " << name;
    if (mlir::failed(result))
      parser.emitError(at, "found a wrong value of the field ") << name;
    return result;
  };
  llvm::SMLoc start = parser.getCurrentLocation();
  if (parseAngleList(parser, one))
    return mlir::failure();
  std::string missing;
  fields.each([&](llvm::StringRef name, auto &value) {
    if (!kMayLack<std::decay_t<decltype(value)>> && !seen.contains(name))
      missing += (missing.empty() ? "" : ", ") + name.str();
  });
  if (missing.empty())
    return mlir::success();
  return parser.emitError(start, "expected the fields ")
         << names << ", found no " << missing;
}

template <typename Fields>
void printFields(mlir::AsmPrinter &printer, Fields fields) {
  llvm::StringRef separator = "<";
  fields.each([&](llvm::StringRef name, auto &value) {
    if constexpr (kMayLack<std::decay_t<decltype(value)>>)
      if (!value)
        return;
    printer << separator << name << " = ";
    printField(printer, value);
    separator = ", ";
  });
  printer << ">";
}

} // namespace mtc
#endif // MTC_DIALECTS_MTC_FIELDS_H
