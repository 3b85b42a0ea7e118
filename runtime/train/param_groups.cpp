//===- param_groups.cpp - how groups of parameters are updated ------------===//

#include "runtime/train/param_groups.h"

#include "runtime/base/trimmed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace mtc::runtime {
namespace {

/// The parts of a text between separators, trimmed.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t at = 0; at != std::string_view::npos;) {
    at = text.find(separator);
    parts.push_back(trimmed(text.substr(0, at)));
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  }
  return parts;
}

/// Stands for numbers with which parameters stay as they are.
constexpr std::string_view kFrozen = "frozen";

/// A number of a group: its key, and where it goes.
struct GroupKey {
  std::string_view name;
  void (*set)(ParamGroup &, double);
};
constexpr GroupKey kKeys[] = {
    {"lr_scale", [](ParamGroup &g, double x) { g.lrScale = x; }},
    {"lr", [](ParamGroup &g, double x) { g.lr = x; }},
    {"min_lr", [](ParamGroup &g, double x) { g.minLr = x; }},
    {"weight_decay_scale", [](ParamGroup &g, double x) { g.decayScale = x; }},
    {"weight_decay", [](ParamGroup &g, double x) { g.weightDecay = x; }}};

std::string keyNames() {
  std::vector<std::string_view> names;
  for (const GroupKey &key : kKeys)
    names.push_back(key.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// A number as the recipe's rates are: 0 to below 10^6.
bool readNumber(std::string_view text, double &out) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && out >= 0 &&
         out < 1e6;
}

class Reader {
public:
  Status read(std::string_view text, std::vector<ParamGroup> &out) {
    if (!trimmed(text).empty())
      for (std::string_view part : split(text, ';'))
        group(part);
    if (!problems_.empty())
      return {StatusCode::usage,
              fmt::format("{}", fmt::join(problems_, "\n  "))};
    out = std::move(groups_);
    return Status::okay();
  }

private:
  void problem(std::string_view expected, std::string_view found) {
    problems_.push_back(
        fmt::format("groups: expected {}, found '{}'", expected, found));
  }

  void group(std::string_view text) {
    size_t colon = text.find(':');
    std::string_view name = trimmed(text.substr(0, colon));
    if (colon == std::string_view::npos || name.empty())
      return problem("groups like \"embeddings: lr_scale 0.1, weight_decay 0; "
                     "head: lr 1e-4\"",
                     text);
    ParamGroup group;
    group.name = name;
    if (std::ranges::count(groups_, group.name, &ParamGroup::name) > 0)
      problem("each group once", name);
    groups_.push_back(group);
    if (trimmed(text.substr(colon + 1)) == kFrozen) {
      groups_.back().lrScale = 0;
      groups_.back().weightDecay = 0;
    } else {
      numbers(text, text.substr(colon + 1), groups_.back());
    }
  }

  void numbers(std::string_view text, std::string_view list,
               ParamGroup &group) {
    std::vector<std::string_view> given;
    for (std::string_view part : split(list, ','))
      number(part, group, given);
    auto has = [&](std::string_view key) {
      return std::ranges::count(given, key) > 0;
    };
    if (has("lr_scale") && (has("lr") || has("min_lr")))
      problem("lr_scale, or lr with or without min_lr", text);
    if (has("weight_decay_scale") && has("weight_decay"))
      problem("weight_decay_scale or weight_decay", text);
    if (has("min_lr") && (!has("lr") || *group.minLr > *group.lr))
      problem("min_lr beside an lr that is not less", text);
  }

  void number(std::string_view text, ParamGroup &group,
              std::vector<std::string_view> &given) {
    size_t space = text.find(' ');
    std::string_view name = text.substr(0, space);
    auto key = std::ranges::find(kKeys, name, &GroupKey::name);
    double value = 0;
    if (key == std::end(kKeys) || std::ranges::count(given, name) > 0)
      return problem(
          fmt::format("{}, or each of {} at most once", kFrozen, keyNames()),
          text);
    if (space == std::string_view::npos ||
        !readNumber(trimmed(text.substr(space)), value))
      return problem(fmt::format("a number >= 0 and < 1000000 of {}", name),
                     text);
    given.push_back(name);
    key->set(group, value);
  }

  std::vector<ParamGroup> groups_;
  std::vector<std::string> problems_;
};

} // namespace

double ParamGroup::learningRate(const Rates &rates, double n) const {
  if (!lr)
    return lrScale * rates.learningRate(n);
  RateRange range = rates.range();
  range.highest = *lr;
  range.lowest = minLr.value_or(range.lowest);
  return rates.learningRate(n, range);
}

double ParamGroup::decay(const Rates &rates, double n) const {
  return weightDecay ? *weightDecay : decayScale * rates.weightDecay(n);
}

Status parseGroups(std::string_view text, std::vector<ParamGroup> &out) {
  return Reader().read(text, out);
}

Status parseGroups(std::string_view text, const std::vector<std::string> &names,
                   std::vector<ParamGroup> &out) {
  std::vector<ParamGroup> said, all;
  MTC_RETURN_IF_ERROR(parseGroups(text, said));
  std::vector<std::string> unknown;
  for (const ParamGroup &group : said)
    if (std::ranges::count(names, group.name) == 0)
      unknown.push_back(group.name);
  if (!unknown.empty())
    return {StatusCode::usage,
            fmt::format("groups: expected groups that the bundle was compiled "
                        "with ({}), found {}; a strategy makes them: "
                        "[[override]] with pattern and group",
                        names.empty()
                            ? "none"
                            : fmt::format("{}", fmt::join(names, ", ")),
                        fmt::join(unknown, ", "))};
  for (const std::string &name : names) {
    auto found = std::ranges::find(said, name, &ParamGroup::name);
    ParamGroup plain;
    plain.name = name;
    all.push_back(found == said.end() ? plain : *found);
  }
  out = std::move(all);
  return Status::okay();
}

} // namespace mtc::runtime
