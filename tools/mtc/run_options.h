//===- run_options.h - how a bundle is trained, as options ------*- C++ -*-===//
#ifndef MTC_TOOLS_MTC_RUN_OPTIONS_H
#define MTC_TOOLS_MTC_RUN_OPTIONS_H

#include "mtc/runtime/run.h"

#include <memory>

namespace CLI {
class App;
} // namespace CLI

namespace mtc::tool {

/// What was given, by the option that has it.
struct RunCommand;

/// Adds the options of `mtc run`. What they are stored in must live as long as
/// `sub`.
std::shared_ptr<RunCommand> addRunOptions(CLI::App &sub);

/// What they ask for, once `sub` was parsed. Errors: usage, inputRejected.
runtime::Status readRunOptions(RunCommand &command, const CLI::App &sub,
                               runtime::RunOptions &out);

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_RUN_OPTIONS_H
