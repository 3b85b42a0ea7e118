//===- commands.h - the subcommands of mtc ----------------------*- C++ -*-===//
#ifndef MTC_TOOLS_MTC_COMMANDS_H
#define MTC_TOOLS_MTC_COMMANDS_H

#include "runtime/base/status.h"

#include <functional>

namespace CLI {
class App;
} // namespace CLI

namespace mtc::tool {

/// What the command line chose to do; empty: nothing.
using Action = std::function<runtime::Status()>;

/// Each adds a subcommand whose options live as long as `app`, and which stores
/// its work in `action` when it is parsed.
void addCompile(CLI::App &app, Action &action);
void addLint(CLI::App &app, Action &action);
void addRun(CLI::App &app, Action &action);
void addInspect(CLI::App &app, Action &action);
void addDiff(CLI::App &app, Action &action);
void addCheckpoint(CLI::App &app, Action &action);
void addData(CLI::App &app, Action &action);
void addExplain(CLI::App &app, Action &action);
void addDoctor(CLI::App &app, Action &action);
void addFlight(CLI::App &app, Action &action);
void addSchedule(CLI::App &app, Action &action);
void addProfile(CLI::App &app, Action &action);
void addPlot(CLI::App &app, Action &action);
void addTune(CLI::App &app, Action &action);
void addHelp(CLI::App &app, Action &action);
void addPages(CLI::App &app, Action &action);

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_COMMANDS_H
