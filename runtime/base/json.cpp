//===- json.cpp - strict JSON for files that others wrote -----------------===//

#include "runtime/base/json.h"

#include "runtime/base/messages.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mtc::runtime {
namespace {

/// To write one out takes a frame of the stack for each.
constexpr int kMostLevels = 64;

const Json &emptyObject() {
  static const Json object = Json::object();
  return object;
}

/// Remembers the keys of the objects that are open, to find duplicates.
class DuplicateFinder {
public:
  void see(Json::parse_event_t event, const Json &parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start)
      open_.emplace_back();
    else if (event == Event::object_end && !open_.empty())
      open_.pop_back();
    else if (event == Event::key && !open_.empty()) {
      std::string key = parsed.get<std::string>();
      if (!open_.back().insert(key).second && duplicate_.empty())
        duplicate_ = key;
    }
  }
  const std::string &duplicate() const { return duplicate_; }

private:
  std::vector<std::set<std::string>> open_;
  std::string duplicate_;
};

} // namespace

Status parseJson(std::string_view text, const std::string &what, Json &out) {
  DuplicateFinder finder;
  bool isDeep = false;
  auto callback = [&](int depth, Json::parse_event_t event, Json &parsed) {
    finder.see(event, parsed);
    isDeep |= depth > kMostLevels;
    return depth <= kMostLevels; // false leaves it out
  };
  Json parsed = Json::parse(text.begin(), text.end(), callback,
                            /*allow_exceptions=*/false);
  if (isDeep)
    return {StatusCode::inputRejected,
            fmt::format("{}: expected JSON with at most {} levels, found more",
                        what, kMostLevels)};
  if (parsed.is_discarded())
    return {StatusCode::inputRejected,
            fmt::format("{}: expected JSON, found something else", what)};
  if (!finder.duplicate().empty())
    return {StatusCode::inputRejected,
            fmt::format("{}: the key '{}' stands twice in one object", what,
                        finder.duplicate())};
  out = std::move(parsed);
  return Status::okay();
}

Status Problems::status(const std::string &what) const {
  if (list_.empty())
    return Status::okay();
  std::string message = fmt::format("{}: {} problem{}", what, list_.size(),
                                    list_.size() == 1 ? "" : "s");
  for (const std::string &problem : list_)
    message += "\n  " + problem;
  return {StatusCode::inputRejected, message};
}

FieldReader::FieldReader(const Json &object, std::string path,
                         Problems &problems)
    : object_(&object), path_(std::move(path)), problems_(&problems) {
  if (object.is_object())
    return;
  problem("expected an object");
  object_ = &emptyObject();
}

void FieldReader::problem(const std::string &text) {
  problems_->add(path_.empty() ? text : path_ + ": " + text);
}

bool FieldReader::has(const char *key) const { return object_->contains(key); }

std::vector<std::string> FieldReader::keys() const {
  std::vector<std::string> keys;
  for (const auto &[key, value] : object_->items())
    keys.push_back(key);
  return keys;
}

void FieldReader::rejectOthers(std::span<const std::string> known) {
  for (const std::string &key : keys())
    if (std::ranges::count(known, key) == 0)
      problem(fmt::format("unknown key '{}', expected one of: {}",
                          printable(key), fmt::join(known, ", ")));
}

const Json *FieldReader::find(const char *key, const char *expected,
                              bool (Json::*is)() const noexcept) {
  noteRead(key);
  auto it = object_->find(key);
  if (it == object_->end()) {
    problem(fmt::format("'{}' is missing; expected {}", key, expected));
    return nullptr;
  }
  if (((*it).*is)())
    return &*it;
  problem(fmt::format("'{}': expected {}, found {}", key, expected,
                      it->type_name()));
  return nullptr;
}

void FieldReader::noteRead(const char *key) {
  if (std::ranges::count(read_, key) == 0)
    read_.emplace_back(key);
}

bool FieldReader::isNull(const char *key) {
  noteRead(key);
  auto it = object_->find(key);
  return it != object_->end() && it->is_null();
}

std::optional<size_t>
FieldReader::oneOf(const char *key, std::span<const std::string_view> names) {
  const Json *value = find(key, "a string", &Json::is_string);
  if (!value)
    return std::nullopt;
  auto found = std::ranges::find(names, value->get_ref<const std::string &>());
  if (found != names.end())
    return found - names.begin();
  problem(fmt::format("'{}': expected one of {}; found '{}'", key,
                      fmt::join(names, ", "),
                      printable(value->get_ref<const std::string &>())));
  return std::nullopt;
}

int64_t FieldReader::integer(const char *key, int64_t least, int64_t most) {
  const Json *value = find(key, "an integer", &Json::is_number_integer);
  if (!value)
    return least;
  bool tooLarge = value->is_number_unsigned() &&
                  value->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
  int64_t n = tooLarge ? INT64_MAX : value->get<int64_t>();
  if (!tooLarge && n >= least && n <= most)
    return n;
  problem(fmt::format("'{}': expected {} to {}, found {}", key, least, most,
                      value->dump()));
  return least;
}

std::optional<int64_t> FieldReader::integerOrNull(const char *key,
                                                  int64_t least, int64_t most) {
  if (isNull(key))
    return std::nullopt;
  return integer(key, least, most);
}

double FieldReader::number(const char *key) {
  const Json *value = find(key, "a number", &Json::is_number);
  return value ? value->get<double>() : 0;
}

double FieldReader::amount(const char *key) {
  double found = number(key);
  if (std::isfinite(found) && found >= 0)
    return found;
  problem(fmt::format("'{}': expected at least 0, found {}", key, found));
  return 0;
}

std::optional<double> FieldReader::amountOrNull(const char *key) {
  if (isNull(key))
    return std::nullopt;
  return amount(key);
}

bool FieldReader::boolean(const char *key) {
  const Json *value = find(key, "true or false", &Json::is_boolean);
  return value && value->get<bool>();
}

std::string FieldReader::text(const char *key) {
  const Json *value = find(key, "a string", &Json::is_string);
  return value ? value->get<std::string>() : std::string();
}

/// ASCII's, and those of Unicode at 80 to 9f, which UTF-8 writes behind c2.
static bool hasControls(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    auto next =
        static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (c < 0x20 || c == 0x7f || (c == 0xc2 && next >= 0x80 && next < 0xa0))
      return true;
  }
  return false;
}

std::string FieldReader::line(const char *key) {
  std::string value = text(key);
  if (!hasControls(value))
    return value;
  problem(fmt::format("'{}': expected text without control characters, found "
                      "{}",
                      key, Json(value).dump(-1, ' ', /*ensure_ascii=*/true)));
  return "";
}

std::vector<int64_t> FieldReader::integers(const char *key, int64_t least) {
  std::vector<int64_t> out;
  const Json *value = find(key, "an array of integers", &Json::is_array);
  if (!value)
    return out;
  for (const Json &item : *value) {
    if (item.is_number_integer() && item.get<int64_t>() >= least) {
      out.push_back(item.get<int64_t>());
      continue;
    }
    problem(fmt::format("'{}': expected integers of at least {}, found {}", key,
                        least, item.dump()));
    return {};
  }
  return out;
}

std::vector<std::string> FieldReader::texts(const char *key) {
  std::vector<std::string> out;
  const Json *value = find(key, "an array of strings", &Json::is_array);
  if (!value)
    return out;
  for (const Json &item : *value)
    if (item.is_string())
      out.push_back(item.get<std::string>());
    else
      problem(
          fmt::format("'{}': expected strings, found {}", key, item.dump()));
  return out;
}

FieldReader FieldReader::object(const char *key) {
  const Json *value = find(key, "an object", &Json::is_object);
  std::string path = path_.empty() ? key : path_ + "." + key;
  return {value ? *value : emptyObject(), path, *problems_};
}

std::vector<FieldReader> FieldReader::objects(const char *key) {
  std::vector<FieldReader> out;
  const Json *value = find(key, "an array of objects", &Json::is_array);
  if (!value)
    return out;
  std::string base = path_.empty() ? key : path_ + "." + key;
  for (size_t i = 0; i < value->size(); ++i)
    out.emplace_back((*value)[i], fmt::format("{}[{}]", base, i), *problems_);
  return out;
}

} // namespace mtc::runtime
