//===- report.cpp - what a command did, in rows ---------------------------===//

#include "tools/data/report.h"

#include "runtime/base/json.h"
#include "runtime/base/number_text.h"

#include <fmt/format.h>

namespace mtc::data {
namespace {

template <typename Value> std::string shown(const Value &value) {
  if (auto *integer = std::get_if<int64_t>(&value))
    return runtime::grouped(*integer);
  if (auto *number = std::get_if<double>(&value))
    return fmt::format("{:.4g}", *number);
  if (auto *list = std::get_if<std::vector<std::string>>(&value))
    return fmt::format("{}", fmt::join(*list, ", "));
  return std::get<std::string>(value);
}

} // namespace

void Report::add(std::string key, std::string label, int64_t value) {
  rows_.push_back({std::move(key), std::move(label), value});
}
void Report::add(std::string key, std::string label, double value) {
  rows_.push_back({std::move(key), std::move(label), value});
}
void Report::add(std::string key, std::string label, std::string value) {
  rows_.push_back({std::move(key), std::move(label), std::move(value)});
}
void Report::add(std::string key, std::string label,
                 std::vector<std::string> value) {
  rows_.push_back({std::move(key), std::move(label), std::move(value)});
}

std::string Report::text() const {
  size_t width = 0;
  for (const Row &row : rows_)
    width = std::max(width, row.label.size());
  std::string text;
  for (const Row &row : rows_)
    if (!row.label.empty())
      text += fmt::format("{:{}}  {}\n", row.label, width, shown(row.value));
  return text;
}

std::string Report::json() const {
  runtime::Json object = runtime::Json::object();
  for (const Row &row : rows_)
    std::visit([&](const auto &value) { object[row.key] = value; }, row.value);
  // Names of files may be no UTF-8.
  return object.dump(-1, ' ', false, runtime::Json::error_handler_t::replace) +
         "\n";
}

} // namespace mtc::data
