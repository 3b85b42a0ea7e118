//===- key_names.cpp - other names of the keys of a strategy --------------===//

#include "models/key_names.h"

#include <algorithm>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "models/megatron_names.h"
#include "models/settings.h"
#include "models/strategy_fields.h"

namespace mtc::models {
namespace {

/// What a name stands for.
struct Meaning {
  std::string key;
  std::string value = {}; ///< of a flag; empty: any
  bool adds = false;      ///< the value comes to the default's

  bool isFlag() const { return !value.empty(); }
};

/// A key as it stands in a document.
struct Given {
  std::string written;
  Meaning meaning;
};

using Names = std::map<std::string, Meaning, std::less<>>;

std::string withUnderscores(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), '-', '_');
  return result;
}

/// "name", "name=value" or "name+=value".
std::pair<std::string, Meaning> parseAlias(const std::string &alias,
                                           std::string_view key) {
  size_t equals = alias.find('=');
  if (equals == alias.npos)
    return {withUnderscores(alias), {std::string(key)}};
  bool adds = alias[equals - 1] == '+';
  return {withUnderscores(alias.substr(0, equals - (adds ? 1 : 0))),
          {std::string(key), alias.substr(equals + 1), adds}};
}

const std::vector<Field<Strategy>> &fields() {
  static const std::vector<Field<Strategy>> all = strategyFields({});
  return all;
}

/// Without the names of the fields themselves.
const Names &aliases() {
  static const Names names = [] {
    Names found;
    for (const Field<Strategy> &field : fields()) {
      std::istringstream words{std::string(field.aliases)};
      for (std::string alias; words >> alias;)
        found.insert(parseAlias(alias, field.key));
    }
    return found;
  }();
  return names;
}

/// Null: there is no such key.
const Field<Strategy> *fieldOf(std::string_view key) {
  for (const Field<Strategy> &field : fields())
    if (field.key == key)
      return &field;
  return nullptr;
}

/// One document.
class Renamer {
public:
  Renamer(toml::table &document, const std::string &file, NamesIn in)
      : document(document), file(file), in(in) {}

  Diagnostics run() {
    std::map<std::string, std::vector<Given>> found;
    std::vector<std::string> notOurs;
    for (const auto &[name, node] : document) {
      std::string written(name.str()), plain = withUnderscores(written);
      if (fieldOf(plain))
        found[plain].push_back({written, {plain}});
      else if (auto alias = aliases().find(plain); alias != aliases().end())
        found[alias->second.key].push_back({written, alias->second});
      else if (!megatronAdvice(plain).empty())
        notOurs.push_back(written);
    }
    for (const std::string &written : notOurs)
      reject(written);
    for (auto &[key, names] : found)
      use(key, names);
    return std::move(diagnostics);
  }

private:
  toml::source_region sourceOf(const std::string &written) const {
    for (const auto &[name, node] : document)
      if (name.str() == written)
        return name.source();
    return {};
  }

  void error(const std::string &written, const std::string &message) {
    toml::source_region source = sourceOf(written);
    bool isSet = source.path && isSetting(*source.path);
    diagnostics.push_back({ErrorClass::usage, isSet ? *source.path : file,
                           isSet ? 0 : static_cast<int>(source.begin.line),
                           fmt::format("key '{}': {}", written, message)});
  }

  void reject(const std::string &written) {
    error(written, fmt::format("no key of a strategy as it is of Megatron-LM: "
                               "{}",
                               megatronAdvice(withUnderscores(written))));
    document.erase(written);
  }

  /// Leaves one key of this name, or none.
  void use(const std::string &key, std::vector<Given> &names) {
    std::erase_if(names, [&](const Given &each) {
      return each.meaning.isFlag() && !checkFlag(each);
    });
    std::vector<Given> on = names;
    std::erase_if(on, [&](const Given &each) { return !isOn(each); });
    bool areFlags = std::all_of(names.begin(), names.end(), [](const Given &n) {
      return n.meaning.isFlag();
    });
    std::vector<Given> &counted = areFlags ? on : names;
    bool addUp = std::all_of(on.begin(), on.end(),
                             [](const Given &n) { return n.meaning.adds; });
    if (counted.size() > 1 && !(areFlags && addUp))
      return rejectTwice(key, counted);
    if (areFlags)
      return useFlags(key, names, on);
    if (const std::string &written = names.front().written; written != key)
      rename(written, key);
  }

  bool isOn(const Given &each) const {
    return !each.meaning.isFlag() ||
           document.get(each.written)->value_or(false);
  }

  bool checkFlag(const Given &each) {
    const toml::node &node = *document.get(each.written);
    if (!node.is_boolean()) {
      error(each.written,
            fmt::format("expected true or false, found {}", describe(node)));
    } else if (in == NamesIn::setting && !isOn(each)) {
      error(each.written,
            fmt::format("expected true, found false, which says nothing over a "
                        "file; set '{}'",
                        each.meaning.key));
    } else {
      return true;
    }
    document.erase(each.written);
    return false;
  }

  /// The first that stands there is kept.
  void rejectTwice(const std::string &key, std::vector<Given> names) {
    auto place = [&](const Given &each) {
      toml::source_position at = sourceOf(each.written).begin;
      return std::pair(at.line, at.column);
    };
    std::stable_sort(
        names.begin(), names.end(),
        [&](const Given &a, const Given &b) { return place(a) < place(b); });
    for (size_t i = 1; i < names.size(); ++i)
      error(names[i].written,
            fmt::format("expected '{}' under one name, found it as '{}' as "
                        "well",
                        key, names.front().written));
    for (const Given &each : names)
      document.erase(each.written);
  }

  void useFlags(const std::string &key, const std::vector<Given> &names,
                const std::vector<Given> &on) {
    std::string value;
    for (const Given &each : on)
      value = each.meaning.adds ? (value.empty() ? byDefault(key) : value) +
                                      "," + each.meaning.value
                                : each.meaning.value;
    if (!on.empty()) {
      toml::key name(key, sourceOf(on.front().written));
      if (value.find_first_not_of("0123456789") == value.npos)
        document.insert(name, std::stoll(value));
      else
        document.insert(name, value);
    }
    for (const Given &each : names)
      document.erase(each.written);
  }

  static std::string byDefault(const std::string &key) {
    return fieldOf(key)->kind.valueOf(Strategy()).get<std::string>();
  }

  void rename(const std::string &written, const std::string &key) {
    toml::key name(key, sourceOf(written));
    // A copy of a node would not know its source.
    document.get(written)->visit(
        [&](auto &node) { document.insert(name, std::move(node)); });
    document.erase(written);
  }

  toml::table &document;
  const std::string &file;
  NamesIn in;
  Diagnostics diagnostics;
};

} // namespace

Diagnostics useOwnNames(toml::table &document, const std::string &file,
                        NamesIn in) {
  return Renamer(document, file, in).run();
}

std::vector<std::string> otherNames() {
  std::vector<std::string> names;
  for (const auto &[name, meaning] : aliases())
    names.push_back(name);
  return names;
}

} // namespace mtc::models
