//===- lint_command.cpp - mtc lint ----------------------------------------===//

#include "compiler/interrupt.h"
#include "compiler/lint/lint.h"
#include "mtc/runtime/isa.h"
#include "tools/mtc/commands.h"
#include "tools/mtc/numbers.h"
#include "tools/mtc/standard_files.h"
#include "tools/mtc/strategy_options.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

using mtc::runtime::Status;

namespace mtc::tool {
namespace {

struct LintCommand {
  compiler::LintOptions options;
  StrategyOptions strategy;
  int64_t ranks = 0; ///< 0: not given
  bool json = false;
};

Status runLint(LintCommand &command) {
  MTC_RETURN_IF_ERROR(command.strategy.check());
  compiler::watchInterrupts();
  command.options.inputs.strategy = command.strategy.given();
  if (command.ranks > 0)
    command.options.ranks = command.ranks;
  command.options.inputs.progress = lineToStderr;
  compiler::LintResult result;
  Status status = compiler::lint(command.options, result);
  // What was given may be no UTF-8, which JSON is.
  std::string text =
      command.json
          ? result.json.dump(2, ' ', /*ensure_ascii=*/false,
                             nlohmann::json::error_handler_t::replace) +
                "\n"
          : std::move(result.text);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return status;
}

} // namespace

void addLint(CLI::App &app, Action &action) {
  auto command = std::make_shared<LintCommand>();
  compiler::CompileOptions &inputs = command->options.inputs;
  CLI::App *sub = app.add_subcommand(
      "lint", "checks a model and a strategy, and whether they fit a device");
  sub->footer(
      "examples:\n"
      "  mtc lint gpt2-nano tp2-pp2-dp2 --ranks 8\n"
      "  mtc lint spec.toml s.toml --ranks 64 --device-memory 80GiB\n"
      "  mtc lint gpt2-124m --gbs 8 --tp 2 --device-memory 2GiB --json");
  sub->add_option("spec", inputs.input, "spec file, or name of a spec")
      ->required();
  sub->add_option("strategy", inputs.strategyFile,
                  "strategy file (TOML), or name of a strategy that comes "
                  "with mtc");
  addInteger(*sub, "--ranks", command->ranks, 1,
             "ranks that there are; dp follows from it where it is not given");
  addInteger(*sub, "--tries", command->options.tries, 0,
             "strategies that are planned at most to find some that fit; "
             "default: 24");
  sub->add_option("--isa", inputs.isa,
                  runtime::isaNames() +
                      "; default: this machine's best for the dtype");
  addInteger(
      *sub, "-j,--jobs", {1, 1024},
      [&inputs](int64_t jobs) { inputs.threads = static_cast<int>(jobs); },
      "stages planned at a time");
  sub->add_flag("--json", command->json, "as JSON instead of text");
  addSettings(*sub, inputs.settings);
  command->strategy.addTo(*sub);
  sub->callback(
      [command, &action] { action = [command] { return runLint(*command); }; });
}

} // namespace mtc::tool
