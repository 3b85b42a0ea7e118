//===- help_command.cpp - mtc help ----------------------------------------===//

#include "compiler/install.h"
#include "compiler/schedules.h"
#include "passes/phases.h"
#include "tools/mtc/commands.h"
#include "tools/mtc/key_page.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

#include <fmt/format.h>

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
      "4   a plan that cannot be: memory, divisibility, IR that is rejected;\n"
      "    mtc lint: a rule is broken, or the plan does not fit the device\n"
      "5   an internal error; please report it\n"
      "9   stopped early, with a checkpoint to continue from\n"
      "10  the plans that were compared differ (mtc diff)\n"
      "11  stopped by a signal\n"
      "12  another rank died\n"
      "13  a hang: a watchdog ran out or a deadlock was detected\n"
      "14  communication: members of a group disagree\n"
      "15  a loss or gradient norm that is not finite\n"
      "18  output could not be written\n"
      "19  there are checkpoints, and none of them is whole\n"
      "20  a GPU or a kernel on it failed while it ran");
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

void printSchedules() { std::fputs(compiler::schedulesText().c_str(), stdout); }

void printSpecs() {
  for (const std::string &name : compiler::specNames())
    std::puts(name.c_str());
}

void printStrategies() {
  for (const std::string &name : compiler::strategyNames())
    std::puts(name.c_str());
}

void printRecipes() {
  for (const std::string &name : compiler::recipeNames())
    std::puts(name.c_str());
}

void printGemmTables() {
  for (const std::string &name : compiler::gemmTableNames())
    std::puts(name.c_str());
}

struct Topic {
  const char *name;
  void (*print)();
};
constexpr Topic kTopics[] = {
    {"exit-codes", printExitCodes}, {"gemm-tables", printGemmTables},
    {"phases", printPhases},        {"recipes", printRecipes},
    {"schedules", printSchedules},  {"specs", printSpecs},
    {"strategies", printStrategies}};

/// Topics that are pages of docs/reference as well.
struct PageTopic {
  const char *name;
  KeyPage (*page)();
};
constexpr PageTopic kPages[] = {{"spec", specPage},
                                {"strategy", strategyPage},
                                {"recipe", recipePage},
                                {"log", logPage}};

std::string topicNames() {
  std::string names;
  for (const PageTopic &topic : kPages)
    names += std::string(names.empty() ? "" : ", ") + topic.name;
  for (const Topic &topic : kTopics)
    names += std::string(", ") + topic.name;
  return names;
}

/// app.help() would show the help of the subcommand that was given: this one.
void printHelp(const CLI::App &app, const std::string &name) {
  std::fputs(app.get_formatter()
                 ->make_help(&app, name, CLI::AppFormatMode::Normal)
                 .c_str(),
             stdout);
}

Status printTopic(const std::string &name, bool isPage, const CLI::App &app) {
  for (const PageTopic &topic : kPages)
    if (name == topic.name) {
      KeyPage page = topic.page();
      std::fputs((isPage ? toMarkdown(page) : toText(page)).c_str(), stdout);
      return Status::okay();
    }
  if (isPage)
    return {StatusCode::usage,
            fmt::format("help --markdown: expected a topic that is a page of "
                        "docs/reference, found '{}'",
                        name)};
  if (name.empty()) {
    printHelp(app, app.get_name());
    return Status::okay();
  }
  for (const Topic &topic : kTopics)
    if (name == topic.name) {
      topic.print();
      return Status::okay();
    }
  for (const CLI::App *sub : app.get_subcommands(
           static_cast<std::function<bool(const CLI::App *)>>(nullptr)))
    if (sub->get_name() == name) {
      printHelp(*sub, "mtc " + name);
      return Status::okay();
    }
  return {StatusCode::usage,
          fmt::format("help: expected a command or one of {}, found '{}'",
                      topicNames(), name)};
}

} // namespace

void addHelp(CLI::App &app, Action &action) {
  auto topic = std::make_shared<std::string>();
  std::string what = "a command, or one of " + topicNames();
  CLI::App *sub = app.add_subcommand("help", "of a command; " + topicNames());
  sub->add_option("topic", *topic, what);
  auto isPage = std::make_shared<bool>(false);
  sub->add_flag("--markdown", *isPage,
                "keys of files as a page of docs/reference");
  sub->callback([topic, isPage, &app, &action] {
    action = [topic, isPage, &app] { return printTopic(*topic, *isPage, app); };
  });
}

} // namespace mtc::tool
