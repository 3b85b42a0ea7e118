//===- numbers.cpp - options that take a number ---------------------------===//

#include "tools/mtc/numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace mtc::tool {
namespace {

std::string expectedOf(IntegerBounds bounds) {
  return fmt::format("an integer from {} to {}", bounds.least, bounds.most);
}

std::string expectedOf(NumberBounds bounds) {
  std::string zero = bounds.orZero ? "0, or " : "";
  return std::isinf(bounds.most)
             ? fmt::format("{}a number >= {}", zero, bounds.least)
             : fmt::format("{}a number from {} to {}", zero, bounds.least,
                           bounds.most);
}

bool holds(IntegerBounds bounds, int64_t value) {
  return value >= bounds.least && value <= bounds.most;
}

bool holds(NumberBounds bounds, double value) {
  return std::isfinite(value) &&
         ((value >= bounds.least && value <= bounds.most) ||
          (bounds.orZero && value == 0));
}

template <typename Number, typename Bounds>
CLI::Option *add(CLI::App &app, const std::string &flags, Bounds bounds,
                 std::function<void(Number)> set, const std::string &what) {
  auto read = [=](const std::string &text) {
    Number value{};
    const char *end = text.data() + text.size();
    auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || rest != end || !holds(bounds, value))
      throw CLI::ValidationError(flags, fmt::format("expected {}, found '{}'",
                                                    expectedOf(bounds), text));
    set(value);
  };
  return app.add_option_function<std::string>(flags, read, what)
      ->type_name("NUMBER");
}

} // namespace

CLI::Option *addInteger(CLI::App &app, const std::string &flags,
                        IntegerBounds bounds, std::function<void(int64_t)> set,
                        const std::string &what) {
  return add<int64_t>(app, flags, bounds, std::move(set), what);
}

CLI::Option *addInteger(CLI::App &app, const std::string &flags, int64_t &out,
                        int64_t least, const std::string &what) {
  return addInteger(
      app, flags, {least, INT64_MAX}, [&out](int64_t value) { out = value; },
      what);
}

CLI::Option *addNumber(CLI::App &app, const std::string &flags,
                       NumberBounds bounds, std::function<void(double)> set,
                       const std::string &what) {
  return add<double>(app, flags, bounds, std::move(set), what);
}

CLI::Option *addNumber(CLI::App &app, const std::string &flags,
                       std::optional<double> &out, NumberBounds bounds,
                       const std::string &what) {
  return addNumber(
      app, flags, bounds, [&out](double value) { out = value; }, what);
}

} // namespace mtc::tool
