//===- help_command.cpp - mtc help ----------------------------------------===//

#include "compiler/install.h"
#include "compiler/schedules.h"
#include "passes/phases.h"
#include "tools/mtc/commands.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::tool {
namespace {

void printExitCodes() {
  std::puts(
      "0   done\n"
      "1   any other failure\n"
      "2   usage or configuration\n"
      "3   an input file is corrupt, unsupported or too short\n"
      "4   a plan that cannot be: memory, divisibility, IR that is rejected\n"
      "5   an internal error; please report it\n"
      "11  stopped by a signal\n"
      "12  another rank died\n"
      "13  a hang: a watchdog ran out or a deadlock was detected\n"
      "14  communication: members of a group disagree\n"
      "15  a loss or gradient norm that is not finite\n"
      "18  output could not be written");
}

/// Phases under the headings of their pipelines.
void printPhases() {
  auto pipelines = passes::allPipelines();
  for (const passes::PhaseInfo &info : passes::allPhases()) {
    if (!pipelines.empty() && info.phase == pipelines.front().first) {
      std::printf("%-22s %s\n", pipelines.front().name, pipelines.front().what);
      pipelines = pipelines.subspan(1);
    }
    bool isPass = info.phase != passes::Phase::import &&
                  info.phase != passes::Phase::link;
    std::printf("%s%-20s %s\n", isPass ? "  " : "", info.name, info.what);
  }
  std::printf(
      "\nNames that begin with mtc- are pipelines of mtc-opt; so is %s: "
      "%s.\n",
      passes::planPipeline.name, passes::planPipeline.what);
}

/// One line each: name, entry, what it is, and what the compiler lacks for it.
void printSchedules() {
  for (const compiler::ScheduleInfo &info : compiler::allSchedules())
    std::printf("%-17s %-6s %s%s%s\n", info.name.c_str(), info.entry.c_str(),
                info.what.c_str(),
                info.lacks.empty() ? "" : "; cannot be compiled yet: ",
                info.lacks.c_str());
}

Status printTopic(const std::string &topic, const CLI::App &app) {
  if (topic.empty())
    // app.help() would show the help of the subcommand that was given: this
    // one.
    std::fputs(app.get_formatter()
                   ->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal)
                   .c_str(),
               stdout);
  else if (topic == "exit-codes")
    printExitCodes();
  else if (topic == "phases")
    printPhases();
  else if (topic == "schedules")
    printSchedules();
  else if (topic == "specs")
    for (const std::string &name : compiler::specNames())
      std::puts(name.c_str());
  else
    return {StatusCode::usage,
            "help: expected exit-codes, phases, schedules or specs, found '" +
                topic + "'"};
  return Status::okay();
}

} // namespace

void addHelp(CLI::App &app, Action &action) {
  auto topic = std::make_shared<std::string>();
  CLI::App *sub =
      app.add_subcommand("help", "exit-codes, phases, schedules, specs");
  sub->add_option("topic", *topic, "exit-codes, phases, schedules or specs");
  sub->callback([topic, &app, &action] {
    action = [topic, &app] { return printTopic(*topic, app); };
  });
}

} // namespace mtc::tool
