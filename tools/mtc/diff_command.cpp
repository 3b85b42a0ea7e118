//===- diff_command.cpp - mtc diff ----------------------------------------===//

#include "mtc/runtime/inspect.h"
#include "tools/mtc/commands.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::tool {
namespace {

struct DiffCommand {
  std::string a, b;
  bool json = false;
};

Status runDiff(const DiffCommand &command) {
  std::string text;
  bool same = false;
  MTC_RETURN_IF_ERROR(
      runtime::diffBundles(command.a, command.b, command.json, text, same));
  std::fwrite(text.data(), 1, text.size(), stdout);
  return same ? Status::okay() : Status(StatusCode::differ, "");
}

} // namespace

void addDiff(CLI::App &app, Action &action) {
  auto command = std::make_shared<DiffCommand>();
  CLI::App *sub = app.add_subcommand(
      "diff",
      "says what two bundles plan differently; ends with 10 if they do");
  sub->add_option("a", command->a, "a bundle")->required();
  sub->add_option("b", command->b, "another bundle")->required();
  sub->add_flag("--json", command->json, "as JSON instead of text");
  sub->callback(
      [command, &action] { action = [command] { return runDiff(*command); }; });
}

} // namespace mtc::tool
