//===- numbers.h - options that take a number -------------------*- C++ -*-===//
//
// Every option of a command that is a number goes through these: anything else
// is an error that names the option, the rule and what was given.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TOOLS_MTC_NUMBERS_H
#define MTC_TOOLS_MTC_NUMBERS_H

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

namespace mtc::tool {

/// Both ends are taken.
struct IntegerBounds {
  int64_t least = 0, most = INT64_MAX;
};

/// Adds an option for a decimal integer within bounds.
CLI::Option *addInteger(CLI::App &app, const std::string &flags,
                        IntegerBounds bounds, std::function<void(int64_t)> set,
                        const std::string &what);

/// The same for one of at least `least`, up to 64 bits.
CLI::Option *addInteger(CLI::App &app, const std::string &flags, int64_t &out,
                        int64_t least, const std::string &what);

/// Both ends are taken; `orZero`: 0 is, too. NaN and infinities never are.
struct NumberBounds {
  double least = 0, most = std::numeric_limits<double>::infinity();
  bool orZero = false;
};

/// Adds an option for a finite number within bounds.
CLI::Option *addNumber(CLI::App &app, const std::string &flags,
                       NumberBounds bounds, std::function<void(double)> set,
                       const std::string &what);

/// The same with a place for it.
CLI::Option *addNumber(CLI::App &app, const std::string &flags,
                       std::optional<double> &out, NumberBounds bounds,
                       const std::string &what);

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_NUMBERS_H
