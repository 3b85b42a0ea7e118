//===- parse_error.h - what is wrong with a command line --------*- C++ -*-===//
#ifndef MTC_TOOLS_MTC_PARSE_ERROR_H
#define MTC_TOOLS_MTC_PARSE_ERROR_H

#include <CLI/CLI.hpp>

#include <string>

namespace mtc::tool {

/// A message for people: unknown subcommands and options with the nearest that
/// exists, everything else in the parser's words; and where to read on.
std::string explain(const CLI::App &app, const CLI::ParseError &error);

/// The same of a command line that can be parsed: an option that took another
/// one for its value, as --log of "--log --quiet"; empty: none did.
std::string swallowedOption(const CLI::App &app);

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_PARSE_ERROR_H
