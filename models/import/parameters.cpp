//===- parameters.cpp - what enters a microbatch --------------------------===//

#include "models/import/importer.h"

#include "dialects/dist/Dist.h"
#include "models/kv_heads.h"

namespace mtc::models::importing {

/// The line of the spec that has a key; unknown if it is left to its default.
Location Importer::written(StringRef key) {
  auto line = spec.lines.find(std::string_view(key));
  if (line == spec.lines.end())
    return UnknownLoc::get(b.getContext());
  return FileLineColLoc::get(b.getStringAttr(spec.file), line->second, 1);
}

Value Importer::argument(const std::string &name, Type type,
                         NamedAttribute attribute) {
  argAttrs.push_back(b.getDictionaryAttr({attribute}));
  auto part = dyn_cast<NameLoc>(loc);
  Location line = part ? part.getChildLoc() : UnknownLoc::get(b.getContext());
  return fn.getBody().front().addArgument(
      type, NameLoc::get(b.getStringAttr(name), line));
}

/// That of the weights that are computed with, or wider.
Type Importer::storedType(const std::string &name) {
  Precision stored = *symbolizePrecision(strategy.dtypeOf(name));
  return dtypePolicy(b.getContext(), stored, Precision::F32).compute;
}

/// Where ranks share heads of keys and values, each stores the one that it
/// reads: `shape` becomes that with a head for each rank.
tfm::RepeatsAttr Importer::repeats(const std::string &name, ArrayAttr axes,
                                   Shape &shape) {
  int64_t ranks = kvRanksOf(name, logicalAxes(axes), spec, strategy);
  if (ranks == 1)
    return {};
  auto isHeads = [](StringAttr axis) {
    return axis.getValue() == StringRef(toString(LogicalAxis::kvHeads));
  };
  auto all = axes.getAsRange<StringAttr>();
  int64_t dim = std::distance(all.begin(), llvm::find_if(all, isHeads));
  shape[dim] *= ranks;
  return tfm::RepeatsAttr::get(b.getContext(), dim, ranks);
}

/// What the strategy says of it alone; of the tensor of a slice it says nothing
/// else than the table (slicesFused). A tensor with heads that ranks share and
/// that no rank has one of is whole.
DictionaryAttr Importer::rulesOfParameter(tfm::ParamAttr param) {
  ArrayAttr axes = param.getAxes();
  bool isRepeated = bool(param.getRepeats());
  DictionaryAttr rules =
      param.getSlice() ? b.getDictionaryAttr({})
                       : ownRules(b, strategy, param.getName().str(), axes);
  StringRef heads = toString(LogicalAxis::kvHeads);
  bool isShared = kvCopies(spec, strategy) > 1 && !isRepeated &&
                  llvm::is_contained(axes.getAsValueRange<StringAttr>(), heads);
  if (!isShared ||
      strategy.shard.meshAxis(LogicalAxis::kvHeads) == MeshAxis::none)
    return rules;
  NamedAttrList all(rules);
  all.set(heads, b.getStringAttr(""));
  return all.getDictionary(b.getContext());
}

/// What computes with it reads it by `computed`, but for norms, which take
/// their scale and bias as they are stored. Of a slice the strategy knows the
/// tensor.
Value Importer::param(const std::string &name, Shape shape, const Axes &axes,
                      tfm::Init init, double std, tfm::SliceAttr slice) {
  std::string known = slice ? slice.getOf().str() : name;
  SmallVector<Attribute> names;
  for (const char *axis : axes)
    names.push_back(b.getStringAttr(axis));
  // Megatron's rule: biases and parameters of one logical dimension (norms) do
  // not decay.
  bool isBias = StringRef(name).ends_with(".bias");
  bool decay = strategy.decays(known, !isBias && shape.size() > 1);
  std::string group = strategy.groupOf(known);
  ArrayAttr logical = b.getArrayAttr(names);
  tfm::RepeatsAttr repeated = repeats(known, logical, shape);
  auto attr = tfm::ParamAttr::get(
      b.getContext(), b.getStringAttr(name), logical, init,
      b.getF64FloatAttr(std), decay, repeated, slice,
      group.empty() ? StringAttr() : b.getStringAttr(group));
  Type stored = storedType(known);
  Value made = argument(name, RankedTensorType::get(shape, stored),
                        b.getNamedAttr("tfm.param", attr));
  NamedAttrList all(mlir::cast<DictionaryAttr>(argAttrs.back()));
  if (auto rules = rulesOfParameter(attr); !rules.empty())
    all.set(dist::rulesAttrName, rules);
  if (isInLayer())
    all.set(tfm::layerAttr, b.getI64IntegerAttr(layer));
  argAttrs.back() = all.getDictionary(b.getContext());
  return made;
}

Value Importer::input(InputKind kind) {
  const InputRow &row = kInputs[static_cast<size_t>(kind)];
  auto axes =
      b.getArrayAttr({b.getStringAttr("batch"), b.getStringAttr("seq")});
  auto attr = tfm::InputAttr::get(b.getContext(),
                                  b.getStringAttr(StringRef(row.name)), axes);
  Type element = row.isWeight ? Type(b.getF32Type()) : Type(b.getI32Type());
  return argument(std::string(row.name),
                  RankedTensorType::get({batch, seq}, element),
                  b.getNamedAttr("tfm.input", attr));
}

} // namespace mtc::models::importing
