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
  std::string name;     ///< "mtc compile", "mtc data info"
  std::string what;     ///< a sentence
  std::string examples; ///< lines; may be empty
  std::vector<OptionEntry> options;

  /// The last word of the name.
  std::string word() const { return name.substr(name.rfind(' ') + 1); }
  /// The name of the command that it is one of; empty: none.
  std::string parent() const {
    size_t end = name.rfind(' ');
    return end == name.npos ? "" : name.substr(0, end);
  }
};

/// The command itself, then each of its subcommands but hidden ones, followed
/// by its own, in their order.
std::vector<CommandEntry> commandTable(const CLI::App &app);

/// The commands that one has, in their order.
std::vector<const CommandEntry *>
subcommandsOf(const CommandEntry &command,
              const std::vector<CommandEntry> &table);

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_COMMAND_TABLE_H
