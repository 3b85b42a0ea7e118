//===- completion.h - completion of command lines in shells -----*- C++ -*-===//
#ifndef MTC_TOOLS_MTC_COMPLETION_H
#define MTC_TOOLS_MTC_COMPLETION_H

#include "tools/mtc/command_table.h"

namespace mtc::tool {

/// A script for a shell that completes commands and options, names of specs by
/// asking `mtc help specs`, and files elsewhere.
std::string bashCompletion(const std::vector<CommandEntry> &table);
std::string zshCompletion(const std::vector<CommandEntry> &table);
std::string fishCompletion(const std::vector<CommandEntry> &table);

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_COMPLETION_H
