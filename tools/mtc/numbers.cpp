//===- numbers.cpp - options that take a number ---------------------------===//

#include "tools/mtc/numbers.h"

#include <fmt/format.h>

#include <charconv>

namespace mtc::tool {
namespace {

template <typename Number>
CLI::Option *add(CLI::App &app, const std::string &flags, Number least,
                 const std::string &expected, const std::string &what,
                 std::function<void(Number)> set) {
  auto read = [=](const std::string &text) {
    Number value{};
    const char *end = text.data() + text.size();
    auto [rest, error] = std::from_chars(text.data(), end, value);
    // The subtraction is NaN for infinities and NaN.
    if (error != std::errc() || rest != end || value - value != 0 ||
        value < least)
      throw CLI::ValidationError(
          flags, fmt::format("expected {}, found '{}'", expected, text));
    set(value);
  };
  return app.add_option_function<std::string>(flags, read, what)
      ->type_name("NUMBER");
}

} // namespace

CLI::Option *addInteger(CLI::App &app, const std::string &flags, int64_t &out,
                        int64_t least, const std::string &what) {
  return add<int64_t>(app, flags, least,
                      fmt::format("an integer from {} to {}", least, INT64_MAX),
                      what, [&out](int64_t value) { out = value; });
}

CLI::Option *addNumber(CLI::App &app, const std::string &flags,
                       std::optional<double> &out, const std::string &what) {
  return add<double>(app, flags, 0, "a number >= 0", what,
                     [&out](double value) { out = value; });
}

} // namespace mtc::tool
