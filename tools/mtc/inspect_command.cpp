//===- inspect_command.cpp - mtc inspect ----------------------------------===//

#include "mtc/runtime/inspect.h"
#include "mtc/runtime/run.h"
#include "tools/mtc/commands.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

using mtc::runtime::Status;

namespace mtc::tool {
namespace {

struct InspectCommand {
  std::string path;
  bool json = false;
  bool requirements = false;
};

Status readProgram(const InspectCommand &command, std::string &text) {
  if (!command.json)
    return runtime::inspectProgram(command.path, text);
  MTC_RETURN_IF_ERROR(runtime::readDescriptorText(command.path, text));
  text += "\n";
  return Status::okay();
}

Status read(const InspectCommand &command, std::string &text) {
  if (!runtime::isBundle(command.path))
    MTC_RETURN_IF_ERROR(runtime::checkProgramFile(command.path));
  if (command.requirements)
    return runtime::inspectRequirements(command.path, command.json, text);
  if (!runtime::isBundle(command.path))
    return readProgram(command, text);
  return command.json ? runtime::readManifestText(command.path, text)
                      : runtime::inspectBundle(command.path, text);
}

Status runInspect(const InspectCommand &command) {
  std::string text;
  MTC_RETURN_IF_ERROR(read(command, text));
  std::fwrite(text.data(), 1, text.size(), stdout);
  return Status::okay();
}

} // namespace

void addInspect(CLI::App &app, Action &action) {
  auto command = std::make_shared<InspectCommand>();
  CLI::App *sub = app.add_subcommand(
      "inspect", "prints what a bundle or a compiled program says of itself");
  sub->add_option("path", command->path,
                  "a bundle, or an executable or .so of one")
      ->required();
  sub->add_flag("--requires", command->requirements,
                "what the machine that runs it needs beside mtc");
  sub->add_flag("--json", command->json,
                "as JSON: the manifest, the descriptor, or what is needed");
  sub->callback([command, &action] {
    action = [command] { return runInspect(*command); };
  });
}

} // namespace mtc::tool
