//===- recipe_file.cpp - reads and checks recipes -------------------------===//

#include "mtc/runtime/run.h"
#include "runtime/base/file.h"

#include <fmt/format.h>
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <functional>
#include <map>
#include <sstream>
#include <type_traits>

namespace mtc::runtime {
namespace {

using Lines = std::vector<std::string>;
/// What is expected, and what stores it: false when it is something else.
struct Setter {
  const char *expected;
  std::function<bool(const toml::node &)> set;
};

Setter number(double &out) {
  return {"a number", [&out](const toml::node &node) {
            auto value = node.value<double>(); // takes integers, too
            if (value)
              out = *value;
            return value.has_value();
          }};
}

template <typename T> Setter exact(T &out) {
  return {std::is_same_v<T, int64_t> ? "an integer" : "a string",
          [&out](const toml::node &node) {
            auto value = node.value_exact<T>();
            if (value)
              out = *value;
            return value.has_value();
          }};
}

Setter seedValue(uint64_t &out) {
  return {"an integer >= 0", [&out](const toml::node &node) {
            auto value = node.value_exact<int64_t>();
            if (value && *value >= 0)
              out = static_cast<uint64_t>(*value);
            return value && *value >= 0;
          }};
}

std::map<std::string, Setter, std::less<>> settersOf(Recipe &r) {
  return {{"steps", exact(r.steps)},
          {"lr", number(r.lr)},
          {"min_lr", number(r.min_lr)},
          {"warmup_steps", exact(r.warmup_steps)},
          {"decay_steps", exact(r.decay_steps)},
          {"decay", exact(r.decay)},
          {"beta1", number(r.beta1)},
          {"beta2", number(r.beta2)},
          {"eps", number(r.eps)},
          {"weight_decay", number(r.weight_decay)},
          {"clip", number(r.clip)},
          {"seed", seedValue(r.seed)},
          {"data", exact(r.data)},
          {"data_dtype", exact(r.data_dtype)},
          {"order", exact(r.order)}};
}

std::string textOf(const toml::node &node) {
  std::ostringstream text;
  node.visit([&](const auto &value) { text << value; });
  return text.str();
}

std::string
unknownKey(std::string_view key,
           const std::map<std::string, Setter, std::less<>> &known) {
  std::string names;
  for (const auto &[name, setter] : known)
    names += (names.empty() ? "" : ", ") + name;
  return fmt::format("unknown key '{}', expected one of: {}", key, names);
}

Status usage(const std::string &what, const Lines &problems) {
  if (problems.empty())
    return Status::okay();
  std::string message = what;
  for (const std::string &problem : problems)
    message += "\n  " + problem;
  return {StatusCode::usage, message};
}

} // namespace

Status readRecipe(const std::string &path, Recipe &recipe) {
  MappedFile file;
  MTC_RETURN_IF_ERROR(MappedFile::open(path, file));
  toml::parse_result parsed = toml::parse(file.text(), path);
  if (!parsed)
    return {StatusCode::usage,
            fmt::format("'{}' line {}: not valid TOML: {}", path,
                        parsed.error().source().begin.line,
                        parsed.error().description())};
  Recipe result = recipe;
  auto setters = settersOf(result);
  Lines problems;
  for (const auto &[key, node] : parsed.table()) {
    auto setter = setters.find(key.str());
    if (setter == setters.end())
      problems.push_back(unknownKey(key.str(), setters));
    else if (!setter->second.set(node))
      problems.push_back(fmt::format("'{}': expected {}, found {}", key.str(),
                                     setter->second.expected, textOf(node)));
  }
  MTC_RETURN_IF_ERROR(usage(fmt::format("recipe '{}':", path), problems));
  recipe = std::move(result);
  return Status::okay();
}

Status checkRecipe(const Recipe &r) {
  Lines problems;
  auto demand = [&](bool holds, const char *rule, auto found) {
    if (!holds)
      problems.push_back(fmt::format("expected {}, found {}", rule, found));
  };
  demand(r.steps >= 0, "steps >= 0", r.steps);
  demand(r.lr >= 0 && r.lr < 1e6, "0 <= lr", r.lr);
  demand(r.min_lr >= 0 && r.min_lr < 1e6, "0 <= min_lr", r.min_lr);
  demand(r.warmup_steps >= 0, "warmup_steps >= 0", r.warmup_steps);
  demand(r.decay_steps >= 0, "decay_steps >= 0", r.decay_steps);
  demand(r.decay == "cosine" || r.decay == "linear" || r.decay == "constant",
         "decay cosine, linear or constant", r.decay);
  demand(r.beta1 >= 0 && r.beta1 < 1, "0 <= beta1 < 1", r.beta1);
  demand(r.beta2 >= 0 && r.beta2 < 1, "0 <= beta2 < 1", r.beta2);
  demand(r.eps >= 0 && r.eps < 1, "0 <= eps < 1", r.eps);
  demand(r.weight_decay >= 0 && r.weight_decay < 1e6, "0 <= weight_decay",
         r.weight_decay);
  demand(r.clip >= 0 && r.clip < 1e30, "0 <= clip", r.clip);
  demand(r.order == "shuffled" || r.order == "sequential",
         "order shuffled or sequential", r.order);
  demand(r.data_dtype == "u8" || r.data_dtype == "u16" || r.data_dtype == "i32",
         "data_dtype u8, u16 or i32", r.data_dtype);
  return usage("recipe:", problems);
}

} // namespace mtc::runtime
