//===- attributes.cpp - MLIR attributes as plain values -------------------===//

#include "compiler/attributes.h"

#include "llvm/Support/raw_ostream.h"

namespace mtc::compiler {

int64_t integerOf(mlir::Attribute attribute, int64_t otherwise) {
  auto integer = mlir::dyn_cast_or_null<mlir::IntegerAttr>(attribute);
  if (!integer)
    return otherwise;
  // getInt would sign-extend a true i1 to -1.
  if (integer.getValue().getBitWidth() == 1)
    return integer.getValue().isZero() ? 0 : 1;
  return integer.getValue().getSExtValue();
}

std::string textOf(mlir::Attribute attribute) {
  auto text = mlir::dyn_cast_or_null<mlir::StringAttr>(attribute);
  return text ? text.getValue().str() : std::string();
}

std::vector<int64_t> integersOf(mlir::Attribute attribute) {
  std::vector<int64_t> values;
  if (auto dense = mlir::dyn_cast_or_null<mlir::DenseI64ArrayAttr>(attribute))
    values.assign(dense.asArrayRef().begin(), dense.asArrayRef().end());
  else if (auto list = mlir::dyn_cast_or_null<mlir::ArrayAttr>(attribute))
    for (mlir::Attribute item : list)
      values.push_back(integerOf(item));
  return values;
}

nlohmann::ordered_json jsonOf(mlir::Attribute attribute) {
  nlohmann::ordered_json json;
  if (auto boolean = mlir::dyn_cast<mlir::BoolAttr>(attribute))
    return boolean.getValue();
  if (mlir::isa<mlir::IntegerAttr>(attribute))
    return integerOf(attribute);
  if (auto number = mlir::dyn_cast<mlir::FloatAttr>(attribute))
    return number.getValueAsDouble();
  if (mlir::isa<mlir::StringAttr>(attribute))
    return textOf(attribute);
  if (mlir::isa<mlir::DenseI64ArrayAttr>(attribute))
    return integersOf(attribute);
  if (auto list = mlir::dyn_cast<mlir::ArrayAttr>(attribute)) {
    json = nlohmann::ordered_json::array();
    for (mlir::Attribute item : list)
      json.push_back(jsonOf(item));
    return json;
  }
  if (auto dictionary = mlir::dyn_cast<mlir::DictionaryAttr>(attribute)) {
    json = nlohmann::ordered_json::object();
    for (mlir::NamedAttribute item : dictionary)
      json[item.getName().str()] = jsonOf(item.getValue());
    return json;
  }
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

} // namespace mtc::compiler
