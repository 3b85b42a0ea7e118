//===- spec.cpp - what the model is ---------------------------------------===//

#include "models/spec.h"

#include <fmt/format.h>

#include "models/nearest.h"
#include "models/toml_reader.h"

namespace mtc::models {

static constexpr Choice<NormKind> normKinds[] = {
    {"layer_norm", NormKind::layerNorm}, {"rms_norm", NormKind::rmsNorm}};
static constexpr Choice<NormPlacement> placements[] = {
    {"pre", NormPlacement::pre}, {"post", NormPlacement::post}};
static constexpr Choice<MlpKind> mlpKinds[] = {{"gelu", MlpKind::gelu},
                                               {"gelu_erf", MlpKind::geluErf},
                                               {"relu", MlpKind::relu},
                                               {"swiglu", MlpKind::swiglu},
                                               {"geglu", MlpKind::geglu}};
static constexpr Choice<QkvKind> qkvKinds[] = {{"fused", QkvKind::fused},
                                               {"separate", QkvKind::separate}};
static constexpr Choice<PositionKind> positionKinds[] = {
    {"learned", PositionKind::learned},
    {"rope", PositionKind::rope},
    {"none", PositionKind::none}};

// The RNG's counter has 16 bits for a layer and 40 for a quarter of an element
// index (docs/numerics.md). Four dimensions of 2^20 exceed the latter, so the
// tensors are checked, too.
static constexpr IntegerRange layerRange{1, 65535};
static constexpr IntegerRange sizeRange{1, 1 << 20};
static constexpr int64_t maxElements = int64_t{1} << 42;

static void readSections(TomlReader &root, ModelSpec &spec) {
  if (const toml::table *table = root.subtable("norm")) {
    TomlReader reader = root.inner("norm", *table);
    reader.choice("kind", spec.norm.kind, normKinds);
    reader.choice("placement", spec.norm.placement, placements);
    reader.number("eps", spec.norm.eps, {0, 1, /*open=*/true});
    reader.finish();
  }
  if (const toml::table *table = root.subtable("mlp")) {
    TomlReader reader = root.inner("mlp", *table);
    reader.choice("kind", spec.mlp.kind, mlpKinds);
    reader.boolean("bias", spec.mlp.bias);
    reader.finish();
  }
  if (const toml::table *table = root.subtable("attention")) {
    TomlReader reader = root.inner("attention", *table);
    reader.choice("qkv", spec.attention.qkv, qkvKinds);
    reader.boolean("bias", spec.attention.bias);
    reader.boolean("causal", spec.attention.causal);
    reader.finish();
  }
  if (const toml::table *table = root.subtable("dropout")) {
    TomlReader reader = root.inner("dropout", *table);
    reader.number("embedding", spec.dropout.embedding, {0, 1});
    reader.number("attention", spec.dropout.attention, {0, 1});
    reader.number("hidden", spec.dropout.hidden, {0, 1});
    reader.finish();
  }
  if (const toml::table *table = root.subtable("init")) {
    TomlReader reader = root.inner("init", *table);
    reader.number("std", spec.init.std, {0, 100, /*open=*/true});
    reader.boolean("scaled_output", spec.init.scaledOutput);
    reader.finish();
  }
}

/// The name becomes part of file names.
static void readName(TomlReader &root, ModelSpec &spec) {
  root.string("name", spec.name, Need::required);
  if (!root.good("name"))
    return;
  bool plain = !spec.name.empty() && spec.name.front() != '.';
  for (char c : spec.name)
    plain &= (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
             (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  if (!plain)
    root.wrong("name", "letters, digits, '-', '_' and '.', not starting with "
                       "'.'");
}

static void readVocab(TomlReader &root, ModelSpec &spec) {
  int64_t multiple = 1;
  root.integer("vocab", spec.vocab, sizeRange, Need::required);
  root.integer("padded_vocab", spec.paddedVocab, sizeRange);
  root.integer("vocab_multiple", multiple, sizeRange);
  if (root.has("padded_vocab") && root.has("vocab_multiple"))
    return root.error("vocab_multiple",
                      "contradicts padded_vocab; give one of the two");
  if (!root.good("vocab") || !root.good("padded_vocab"))
    return;
  if (!root.has("padded_vocab"))
    spec.paddedVocab = (spec.vocab + multiple - 1) / multiple * multiple;
  else if (spec.paddedVocab < spec.vocab)
    root.wrong("padded_vocab", fmt::format("at least vocab = {}", spec.vocab),
               fmt::format("; the nearest valid value is {}", spec.vocab));
}

/// Heads, and what follows from them if it is not given.
static void readHeads(TomlReader &root, ModelSpec &spec) {
  root.integer("heads", spec.heads, sizeRange, Need::required);
  root.integer("kv_heads", spec.kvHeads, sizeRange);
  root.integer("head_dim", spec.headDim, sizeRange);
  if (!root.good("heads"))
    return;
  if (!root.has("kv_heads"))
    spec.kvHeads = spec.heads;
  else if (root.good("kv_heads") && spec.heads % spec.kvHeads != 0)
    root.wrong("kv_heads", fmt::format("a divisor of heads = {}", spec.heads),
               fmt::format("; the nearest valid values are {}",
                           joinOr(nearestDivisors(spec.heads, spec.kvHeads))));
  if (root.has("head_dim") || !root.good("hidden"))
    return;
  if (spec.hidden % spec.heads != 0)
    return root.wrong(
        "heads",
        fmt::format("a divisor of hidden = {} (head_dim is not given)",
                    spec.hidden),
        fmt::format("; the nearest valid values are {}",
                    joinOr(nearestDivisors(spec.hidden, spec.heads))));
  spec.headDim = spec.hidden / spec.heads;
}

/// Errors of a key that depends on several others.
static void checkWhole(TomlReader &root, const ModelSpec &spec) {
  if (spec.positions == PositionKind::rope && spec.headDim % 2 != 0)
    root.error(root.has("head_dim") ? "head_dim" : "positions",
               fmt::format("rope expects an even head_dim, found {}; the "
                           "nearest valid values are {}",
                           spec.headDim,
                           joinOr(nearestMultiples(2, spec.headDim))));
  // Sizes are at most 2^20, so that no product of three overflows.
  int64_t perHead = spec.heads + 2 * spec.kvHeads;
  if (perHead * spec.headDim > maxElements / spec.hidden)
    root.error("heads", fmt::format("expected a qkv weight of at most 2^42 "
                                    "elements, found {} x {} x {}",
                                    spec.hidden, perHead, spec.headDim));
}

static void readSpec(TomlReader &root, ModelSpec &spec) {
  readName(root, spec);
  readVocab(root, spec);
  root.integer("layers", spec.layers, layerRange, Need::required);
  root.integer("hidden", spec.hidden, sizeRange, Need::required);
  readHeads(root, spec);
  root.integer("ffn", spec.ffn, sizeRange, Need::required);
  root.integer("max_seq", spec.maxSeq, sizeRange, Need::required);
  root.choice("positions", spec.positions, positionKinds);
  root.boolean("tied", spec.tied);
  readSections(root, spec);
  bool known = true;
  for (const char *key : {"hidden", "heads", "kv_heads", "head_dim"})
    known &= root.good(key);
  if (known)
    checkWhole(root, spec);
  root.finish();
}

Parsed<ModelSpec> parseModelSpec(std::string_view text,
                                 const std::string &file) {
  Parsed<ModelSpec> result;
  Parsed<toml::table> document = parseToml(text, file);
  result.diagnostics = std::move(document.diagnostics);
  if (!result.ok())
    return result;
  TomlReader root(document.value, "", file, result.diagnostics);
  readSpec(root, result.value);
  result.value.file = file;
  for (const auto &[key, node] : document.value)
    result.value.lines.emplace(key.str(),
                               static_cast<int>(node.source().begin.line));
  sortByLine(result.diagnostics);
  return result;
}

Parsed<ModelSpec> loadModelSpec(const std::string &path) {
  Parsed<std::string> text = readTextFile(path);
  if (!text.ok())
    return {{}, std::move(text.diagnostics)};
  return parseModelSpec(text.value, path);
}

template <typename E, size_t N>
static std::string nameOf(E value, const Choice<E> (&choices)[N]) {
  for (const Choice<E> &choice : choices)
    if (choice.value == value)
      return std::string(choice.name);
  return "";
}

nlohmann::ordered_json toJson(const ModelSpec &spec) {
  nlohmann::ordered_json json = {
      {"name", spec.name},
      {"vocab", spec.vocab},
      {"padded_vocab", spec.paddedVocab},
      {"layers", spec.layers},
      {"hidden", spec.hidden},
      {"heads", spec.heads},
      {"kv_heads", spec.kvHeads},
      {"head_dim", spec.headDim},
      {"ffn", spec.ffn},
      {"max_seq", spec.maxSeq},
      {"positions", nameOf(spec.positions, positionKinds)},
      {"tied", spec.tied}};
  json["norm"] = {{"kind", nameOf(spec.norm.kind, normKinds)},
                  {"placement", nameOf(spec.norm.placement, placements)},
                  {"eps", spec.norm.eps}};
  json["mlp"] = {{"kind", nameOf(spec.mlp.kind, mlpKinds)},
                 {"bias", spec.mlp.bias}};
  json["attention"] = {{"qkv", nameOf(spec.attention.qkv, qkvKinds)},
                       {"bias", spec.attention.bias},
                       {"causal", spec.attention.causal}};
  json["dropout"] = {{"embedding", spec.dropout.embedding},
                     {"attention", spec.dropout.attention},
                     {"hidden", spec.dropout.hidden}};
  json["init"] = {{"std", spec.init.std},
                  {"scaled_output", spec.init.scaledOutput}};
  return json;
}

} // namespace mtc::models
