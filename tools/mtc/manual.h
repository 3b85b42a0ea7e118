//===- manual.h - manual pages ----------------------------------*- C++ -*-===//
#ifndef MTC_TOOLS_MTC_MANUAL_H
#define MTC_TOOLS_MTC_MANUAL_H

#include "tools/mtc/command_table.h"

namespace mtc::tool {

/// The page of `table[index]` for man(1), in roff. `version` is "mtc 0.1".
std::string manualPage(const std::vector<CommandEntry> &table, size_t index,
                       const std::string &version);

/// The name of its file: "mtc-compile.1".
std::string manualName(const CommandEntry &command);

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_MANUAL_H
