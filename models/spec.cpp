//===- spec.cpp - what the model is ---------------------------------------===//

#include "models/spec.h"

#include <fmt/format.h>

#include "models/nearest.h"
#include "models/spec_fields.h"

namespace mtc::models {

static constexpr int64_t maxElements = int64_t{1} << 42;

/// The name becomes part of file names.
static void checkName(TomlReader &root, const ModelSpec &spec) {
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

/// The padded vocabulary, if it is not given.
static void resolveVocab(TomlReader &root, ModelSpec &spec) {
  if (root.has("padded_vocab") && root.has("vocab_multiple"))
    return root.error("vocab_multiple",
                      "contradicts padded_vocab; give one of the two");
  if (!root.good("vocab") || !root.good("padded_vocab"))
    return;
  if (!root.has("padded_vocab"))
    spec.paddedVocab = (spec.vocab + spec.vocabMultiple - 1) /
                       spec.vocabMultiple * spec.vocabMultiple;
  else if (spec.paddedVocab < spec.vocab)
    root.wrong("padded_vocab", fmt::format("at least vocab = {}", spec.vocab),
               fmt::format("; the nearest valid value is {}", spec.vocab));
}

/// Heads, and what follows from them if it is not given.
static void resolveHeads(TomlReader &root, ModelSpec &spec) {
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
  readTable(root, specFields(), "", spec);
  for (std::string_view name : tablesOf(specFields()))
    if (const toml::table *table = root.subtable(name)) {
      TomlReader reader = root.inner(name, *table);
      readTable(reader, specFields(), name, spec);
      reader.finish();
    }
  checkName(root, spec);
  resolveVocab(root, spec);
  resolveHeads(root, spec);
  bool known = true;
  for (const char *key : {"hidden", "heads", "kv_heads", "head_dim"})
    known &= root.good(key);
  if (known)
    checkWhole(root, spec);
  root.finish();
}

Parsed<ModelSpec> parseModelSpec(std::string_view text, const std::string &file,
                                 const Settings &settings) {
  Parsed<ModelSpec> result;
  Parsed<toml::table> document = parseToml(text, file);
  result.diagnostics = std::move(document.diagnostics);
  if (!result.ok())
    return result;
  settings.applyTo(document.value, Settings::kModel);
  TomlReader root(document.value, "", file, result.diagnostics);
  readSpec(root, result.value);
  result.value.file = file;
  for (const auto &[key, node] : document.value)
    if (!node.source().path || !isSetting(*node.source().path))
      result.value.lines.emplace(key.str(),
                                 static_cast<int>(node.source().begin.line));
  sortByLine(result.diagnostics);
  return result;
}

Parsed<ModelSpec> loadModelSpec(const std::string &path,
                                const Settings &settings) {
  Parsed<std::string> text = readTextFile(path);
  if (!text.ok())
    return {{}, std::move(text.diagnostics)};
  return parseModelSpec(text.value, path, settings);
}

nlohmann::ordered_json toJson(const ModelSpec &spec) {
  return toJson(specFields(), spec);
}

} // namespace mtc::models
