//===- run_checks.h - options that do not go together -----------*- C++ -*-===//
#ifndef MTC_TOOLS_MTC_RUN_CHECKS_H
#define MTC_TOOLS_MTC_RUN_CHECKS_H

#include "tools/mtc/run_given.h"

#include <string>
#include <vector>

namespace mtc::tool {

/// One line for each rule that the options break, whatever the recipe is.
std::vector<std::string> checkTogether(const RunCommand &command);

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_RUN_CHECKS_H
