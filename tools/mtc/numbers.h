//===- numbers.h - options that take a number -------------------*- C++ -*-===//
#ifndef MTC_TOOLS_MTC_NUMBERS_H
#define MTC_TOOLS_MTC_NUMBERS_H

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace mtc::tool {

/// Adds an option for a decimal integer of at least `least`, up to 64 bits.
/// Anything else is an error that names the option, the rule and what was
/// given.
CLI::Option *addInteger(CLI::App &app, const std::string &flags, int64_t &out,
                        int64_t least, const std::string &what);

/// The same for a finite number >= 0.
CLI::Option *addNumber(CLI::App &app, const std::string &flags,
                       std::optional<double> &out, const std::string &what);

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_NUMBERS_H
