//===- command_line.h - an executable of several subcommands ------*- C++
//-*-===//
#ifndef MTC_TOOLS_MTC_COMMAND_LINE_H
#define MTC_TOOLS_MTC_COMMAND_LINE_H

#include "tools/mtc/commands.h"

#include <string>
#include <vector>

namespace mtc::tool {

/// What differs between executables of mtc.
struct Executable {
  std::string description;
  std::string (*version)();
  std::vector<void (*)(CLI::App &, Action &)> subcommands;
};

/// Parses the arguments, does what they ask for, says an error on standard
/// error. Returns the exit code, the number of a `runtime::StatusCode`. Nothing
/// is thrown.
int runCommandLine(int argc, char **argv, const Executable &executable);

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_COMMAND_LINE_H
