//===- inspect_command.cpp - mtc inspect ----------------------------------===//

#include "mtc/runtime/run.h"
#include "tools/mtc/commands.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

using mtc::runtime::Status;

namespace mtc::tool {
namespace {

struct InspectCommand {
  std::string program;
  bool json = false;
};

Status runInspect(const InspectCommand &command) {
  std::string text;
  if (command.json) {
    MTC_RETURN_IF_ERROR(runtime::readDescriptorText(command.program, text));
    text += "\n";
  } else {
    MTC_RETURN_IF_ERROR(runtime::inspectProgram(command.program, text));
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return Status::okay();
}

} // namespace

void addInspect(CLI::App &app, Action &action) {
  auto command = std::make_shared<InspectCommand>();
  CLI::App *sub = app.add_subcommand(
      "inspect", "prints what a compiled program says of itself");
  sub->add_option("program", command->program,
                  "an executable or .so of a bundle")
      ->required();
  sub->add_flag("--json", command->json, "the descriptor itself");
  sub->callback([command, &action] {
    action = [command] { return runInspect(*command); };
  });
}

} // namespace mtc::tool
