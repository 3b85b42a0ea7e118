//===- schedule_command.cpp - mtc schedule --------------------------------===//

#include "compiler/schedule/show.h"
#include "compiler/schedules.h"
#include "tools/mtc/commands.h"
#include "tools/mtc/numbers.h"
#include "tools/mtc/picture.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::tool {
namespace {

struct ScheduleCommand {
  std::string verb;
  compiler::ScheduleRequest request;
  std::string svg;
  bool json = false;
};

void printText(const std::string &text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

Status checkOutput(const ScheduleCommand &command) {
  std::vector<runtime::NamedFile> inputs;
  std::error_code error;
  if (std::filesystem::is_regular_file(command.request.nameOrFile, error))
    inputs.push_back({"the schedule", command.request.nameOrFile});
  return checkPicture(command.svg, inputs);
}

Status show(const ScheduleCommand &command) {
  if (command.request.nameOrFile.empty())
    return {StatusCode::usage, "schedule show: expected the name of a "
                               "schedule (mtc schedule list) or a file, found "
                               "none"};
  MTC_RETURN_IF_ERROR(checkOutput(command));
  std::string text;
  MTC_RETURN_IF_ERROR(
      compiler::showSchedule(command.request, command.json, command.svg, text));
  printText(text);
  return Status::okay();
}

Status list(const CLI::App &sub) {
  for (const CLI::Option *option : sub.get_options())
    if (option->count() > 0 && option->get_name() != "action")
      return {StatusCode::usage,
              fmt::format("schedule list: expected nothing else, found {}",
                          option->get_name())};
  printText(compiler::schedulesText());
  return Status::okay();
}

Status runSchedule(const ScheduleCommand &command, const CLI::App &sub) {
  if (command.verb == "show")
    return show(command);
  if (command.verb == "list")
    return list(sub);
  return {
      StatusCode::usage,
      fmt::format("schedule: expected show or list, found '{}'", command.verb)};
}

void addSizes(CLI::App &sub, compiler::ScheduleRequest &request) {
  addInteger(sub, "--pp", request.stages, 1,
             "stages; default: 4, of a file its lines");
  addInteger(sub, "--microbatches", request.microbatches, 1,
             "of a step; default: 8, of a file what its slots say");
  addInteger(sub, "--chunks", request.chunks, 1,
             "of layers on each stage; default: the fewest that the schedule "
             "can have, of a file what its slots say");
  addInteger(sub, "--group", request.group, 1,
             "microbatches that go through a chunk one after the other, where "
             "there are several chunks; default: as many as stages");
  sub.add_option("--costs", request.costs,
                 "time of each slot, in any unit; default: F=1,B=2,I=1,W=1");
  addInteger(sub, "--latency", request.latency, 0,
             "time of a transfer between stages; default: 0");
}

} // namespace

void addSchedule(CLI::App &app, Action &action) {
  auto command = std::make_shared<ScheduleCommand>();
  CLI::App *sub = app.add_subcommand(
      "schedule", "draws a pipeline schedule and says what it costs");
  sub->footer("examples:\n"
              "  mtc schedule list\n"
              "  mtc schedule show 1f1b --pp 4 --microbatches 8\n"
              "  mtc schedule show interleaved-1f1b --chunks 2 --svg s.svg\n"
              "  mtc schedule show mine.txt --costs F=2,B=3 --latency 1");
  sub->add_option("action", command->verb, "show, or list for the names")
      ->required();
  sub->add_option("schedule", command->request.nameOrFile,
                  "name of a schedule, or a file with a line of slots for "
                  "each stage (docs/schedules.md)");
  addSizes(*sub, command->request);
  sub->add_option("--svg", command->svg, "file for a picture");
  sub->add_flag("--json", command->json, "as JSON instead of text");
  sub->callback([command, sub, &action] {
    action = [command, sub] { return runSchedule(*command, *sub); };
  });
}

} // namespace mtc::tool
