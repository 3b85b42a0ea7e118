//===- run_command.cpp - mtc run ------------------------------------------===//

#include "tools/mtc/commands.h"
#include "tools/mtc/run_options.h"

#include <CLI/CLI.hpp>

namespace mtc::tool {

void addRun(CLI::App &app, Action &action) {
  CLI::App *sub = app.add_subcommand("run", "trains a compiled bundle");
  sub->footer("examples:\n"
              "  mtc run nano.mtc --data tokens.bin --steps 100\n"
              "  mtc run nano.mtc --recipe r.toml --comm threads --strict");
  std::shared_ptr<RunCommand> command = addRunOptions(*sub);
  sub->callback([command, sub, &action] {
    action = [command, sub] {
      runtime::RunOptions options;
      MTC_RETURN_IF_ERROR(readRunOptions(*command, *sub, options));
      options.endsProcess = true;
      return runtime::runBundle(options);
    };
  });
}

} // namespace mtc::tool
