//===- command_table.h - the command line as plain values -------*- C++ -*-===//
//
// What manual pages and completions are written from: the very tables that
// parse the command line and print the help.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TOOLS_MTC_COMMAND_TABLE_H
#define MTC_TOOLS_MTC_COMMAND_TABLE_H

#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace mtc::tool {

struct OptionEntry {
  std::vector<std::string> flags; ///< "--output", "-o"; empty: a positional
  std::string name;  ///< of a positional, or what a value is called
  std::string what;  ///< a sentence
  std::string group; ///< heading
  bool takesValue = false;
  bool required = false;
};

struct CommandEntry {
  std::string name;     ///< "mtc compile"
  std::string what;     ///< a sentence
  std::string examples; ///< lines; may be empty
  std::vector<OptionEntry> options;

  /// The last word of the name.
  std::string word() const { return name.substr(name.rfind(' ') + 1); }
};

/// The command itself, then its subcommands but hidden ones, in their order.
std::vector<CommandEntry> commandTable(const CLI::App &app);

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_COMMAND_TABLE_H
