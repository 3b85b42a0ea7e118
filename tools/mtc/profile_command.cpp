//===- profile_command.cpp - mtc profile ----------------------------------===//

#include "mtc/runtime/profile.h"
#include "tools/mtc/commands.h"
#include "tools/mtc/numbers.h"
#include "tools/mtc/run_options.h"

#include <CLI/CLI.hpp>

#include <cstdio>

using mtc::runtime::ProfileOptions;
using mtc::runtime::Status;

namespace mtc::tool {
namespace {

/// Behind the warm-up, where nobody says how long the run is.
constexpr int64_t kSteps = 3;

Status runProfile(ProfileOptions &options, RunCommand &command,
                  const CLI::App &sub) {
  MTC_RETURN_IF_ERROR(readRunOptions(command, sub, options.run));
  bool isSaid = sub.count("--steps") + sub.count("--samples") > 0;
  if (!isSaid && options.run.recipeFile.empty())
    options.run.recipe.steps = options.warmUp + kSteps;
  std::string text;
  MTC_RETURN_IF_ERROR(runtime::profileBundle(options, text));
  std::fwrite(text.data(), 1, text.size(), stdout);
  return Status::okay();
}

} // namespace

void addProfile(CLI::App &app, Action &action) {
  auto options = std::make_shared<ProfileOptions>();
  CLI::App *sub = app.add_subcommand(
      "profile", "trains a bundle for CPUs for some steps, and says what each "
                 "op of its plan took, beside the limits of this machine");
  sub->footer("examples:\n"
              "  mtc profile nano.mtc --data tokens.bin\n"
              "  mtc profile nano.mtc --data tokens.bin --steps 12 --json");
  addInteger(*sub, "--warm-up", options->warmUp, 0,
             "steps at the begin of the run that do not count; default: 2. "
             "Without --steps, --samples and --recipe 3 more are timed");
  sub->add_flag("--json", options->json, "as JSON instead of text: all rows");
  std::shared_ptr<RunCommand> command = addRunOptions(*sub);
  sub->callback([options, command, sub, &action] {
    action = [options, command, sub] {
      return runProfile(*options, *command, *sub);
    };
  });
}

} // namespace mtc::tool
