//===- settings.cpp - single keys of files, set from outside --------------===//

#include "models/settings.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/key_names.h"
#include "models/nearest.h"
#include "models/toml_reader.h"

namespace mtc::models {

static constexpr std::string_view kOption = "--set ";

bool isSetting(std::string_view source) { return source.starts_with(kOption); }

std::string settingName(const std::string &text) {
  constexpr size_t kShown = 200;
  if (text.size() <= kShown)
    return std::string(kOption) + text;
  size_t end = kShown;
  while (end > 0 && (text[end] & 0xc0) == 0x80)
    --end; // inside of a character
  return std::string(kOption) + text.substr(0, end) + "...";
}

/// Equal texts are equal values.
static std::string textOf(const toml::node &node) {
  std::string text;
  if (const toml::array *array = node.as_array())
    for (const toml::node &item : *array)
      text += textOf(item) + ",";
  else if (const toml::table *table = node.as_table())
    for (const auto &[key, item] : *table)
      text += fmt::format("{} = {},", key.str(), textOf(item));
  return fmt::format("{} [{}]", describe(node), text);
}

/// Other names of keys are the same keys.
static Diagnostics ownNames(const std::string &text, toml::table &document) {
  toml::table *strategy = document.get_as<toml::table>(Settings::kStrategy);
  return strategy ? useOwnNames(*strategy, settingName(text), NamesIn::setting)
                  : Diagnostics();
}

namespace {
/// A key that is set: its path, its value as text, and who says it.
struct Leaf {
  std::string path, value, text;
};

/// Reads the texts one after the other.
class SettingsReader {
public:
  explicit SettingsReader(std::vector<std::string_view> heads)
      : heads(std::move(heads)) {}

  void add(const std::string &text) {
    if (text.find('\n') != text.npos)
      return wrong(text, "expected one line KEY=VALUE, found several");
    Parsed<toml::table> document = parseToml(text, settingName(text));
    if (!document.ok())
      return wrong(text, document.diagnostics.front().message + advice(text));
    if (document.value.size() != 1 || !checkHead(text, document.value))
      return document.value.size() == 1 ? void()
                                        : wrong(text, "expected KEY=VALUE");
    if (Diagnostics names = ownNames(text, document.value); !names.empty())
      return void(
          diagnostics.insert(diagnostics.end(), names.begin(), names.end()));
    std::vector<Leaf> found;
    collect(document.value, "", text, found);
    for (Leaf &leaf : found)
      checkAgainstOthers(leaf);
    leaves.insert(leaves.end(), found.begin(), found.end());
  }

  Diagnostics diagnostics;
  std::vector<Leaf> leaves;

private:
  void wrong(const std::string &text, const std::string &message) {
    diagnostics.push_back({ErrorClass::usage, settingName(text), 0, message});
  }

  /// Whether a value was meant as a number; 80GiB is a string.
  static bool isLikeNumber(std::string_view value) {
    size_t first = value.find_first_not_of(" +-");
    return first != value.npos && value[first] >= '0' && value[first] <= '9' &&
           value.find_first_not_of(" +-._0123456789abcdefABCDEFxo") ==
               value.npos;
  }

  /// A string without quotes is what people write first.
  static std::string advice(const std::string &text) {
    size_t equals = text.find('=');
    if (equals == text.npos)
      return "; expected KEY=VALUE, such as model.layers=4";
    std::string value = text.substr(equals + 1);
    if (isLikeNumber(value))
      return "";
    std::string quoted = text.substr(0, equals) + "=\"" + value + "\"";
    return parseToml(quoted, "").ok()
               ? fmt::format("; a string needs quotes: --set '{}'", quoted)
               : "";
  }

  bool checkHead(const std::string &text, const toml::table &document) {
    std::string head(document.begin()->first.str());
    bool known = std::find(heads.begin(), heads.end(), head) != heads.end();
    if (!known)
      wrong(text,
            fmt::format("unknown key '{}'{}", head, suggestion(head, heads)));
    else if (!document.begin()->second.is_table())
      wrong(text, fmt::format("expected {}.KEY=VALUE", head));
    return known && document.begin()->second.is_table();
  }

  static void collect(const toml::table &table, const std::string &path,
                      const std::string &text, std::vector<Leaf> &out) {
    for (const auto &[key, node] : table) {
      std::string inner = path.empty() ? std::string(key.str())
                                       : fmt::format("{}.{}", path, key.str());
      if (const toml::table *sub = node.as_table(); sub && !sub->empty()) {
        collect(*sub, inner, text, out);
        continue;
      }
      out.push_back({inner, textOf(node), text});
    }
  }

  void checkAgainstOthers(const Leaf &leaf) {
    for (const Leaf &other : leaves) {
      bool sameKey = leaf.path == other.path;
      bool inside = leaf.path.starts_with(other.path + ".") ||
                    other.path.starts_with(leaf.path + ".");
      if (inside || (sameKey && leaf.value != other.value))
        wrong(leaf.text, fmt::format("key '{}': contradicts {}", leaf.path,
                                     settingName(other.text)));
    }
  }

  std::vector<std::string_view> heads;
};
} // namespace

Parsed<Settings> Settings::parse(const std::vector<std::string> &texts,
                                 const std::vector<std::string_view> &heads) {
  SettingsReader reader(heads);
  for (const std::string &text : texts)
    reader.add(text);
  Parsed<Settings> result;
  result.diagnostics = std::move(reader.diagnostics);
  if (!result.ok())
    return result;
  result.value.texts = texts;
  for (const Leaf &leaf : reader.leaves)
    result.value.sources.emplace_back(leaf.path, leaf.text);
  return result;
}

/// Moves nodes: copies of them would not know their source.
static void merge(toml::table &from, toml::table &into) {
  for (auto &&[key, node] : from) {
    toml::table *own = into.get_as<toml::table>(key.str());
    if (toml::table *table = node.as_table(); table && own) {
      merge(*table, *own);
      continue;
    }
    into.erase(key.str());
    node.visit([&, name = toml::key(key)](auto &each) {
      into.insert(name, std::move(each));
    });
  }
}

void Settings::applyTo(toml::table &document, std::string_view head) const {
  for (const std::string &text : texts) {
    toml::table set = parseToml(text, settingName(text)).value;
    ownNames(text, set); // of which `parse` has said what is wrong
    if (toml::table *table = set.get_as<toml::table>(head))
      merge(*table, document);
  }
}

std::string Settings::sourceOf(std::string_view path) const {
  for (const auto &[set, text] : sources)
    if (set == path || set.starts_with(std::string(path) + "."))
      return text;
  return "";
}

} // namespace mtc::models
