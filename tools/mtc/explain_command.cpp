//===- explain_command.cpp - mtc explain ----------------------------------===//

#include "mtc/runtime/inspect.h"
#include "tools/mtc/commands.h"
#include "tools/mtc/numbers.h"
#include "tools/mtc/picture.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::tool {
namespace {

/// What --collective alone stands for.
constexpr const char *kEvery = "every";

struct ExplainCommand {
  runtime::ExplainRequest request;
  std::string parameter, collective;
  int64_t rank = -1;
};

Status runExplain(ExplainCommand &command, const CLI::App &sub) {
  if (sub.count("--svg") > 0 && command.rank < 0)
    return {StatusCode::usage, "--svg: expected --rank N with it"};
  MTC_RETURN_IF_ERROR(checkPicture(command.request.svg, {}));
  if (sub.count("--parameter") > 0)
    command.request.parameter = command.parameter;
  if (sub.count("--collective") > 0) {
    if (command.collective.empty())
      return {StatusCode::usage,
              "--collective: expected a number, a group, or nothing behind it "
              "for all collectives, found ''"};
    command.request.collective =
        command.collective == kEvery ? "" : command.collective;
  }
  if (command.rank >= 0)
    command.request.rank = command.rank;
  std::string text;
  MTC_RETURN_IF_ERROR(runtime::explainBundle(command.request, text));
  std::fwrite(text.data(), 1, text.size(), stdout);
  return Status::okay();
}

} // namespace

void addExplain(CLI::App &app, Action &action) {
  auto command = std::make_shared<ExplainCommand>();
  CLI::App *sub = app.add_subcommand(
      "explain", "says why a bundle's plan is as it is; without an option, "
                 "what can be asked");
  sub->footer("examples:\n"
              "  mtc explain nano.mtc --parameter layers.0.mlp.up.weight\n"
              "  mtc explain nano.mtc --collective tp\n"
              "  mtc explain nano.mtc --collective 3\n"
              "  mtc explain nano.mtc --rank 0 --svg memory.svg");
  sub->add_option("bundle", command->request.folder,
                  "folder that mtc compile wrote")
      ->required();
  auto *parameter =
      sub->add_option("--parameter", command->parameter,
                      "where a parameter lies on each rank, and whose "
                      "optimizer states are where");
  auto *collective =
      sub->add_option("--collective", command->collective,
                      "the collectives of a step with their reasons: all, "
                      "those of a group, or one by its number")
          ->expected(0, 1)
          ->default_str(kEvery);
  auto *rank = addInteger(*sub, "--rank", command->rank, 0,
                          "what lives on a rank, and when most does");
  parameter->excludes(collective)->excludes(rank);
  collective->excludes(rank);
  sub->add_option("--svg", command->request.svg,
                  "with --rank: file for a picture of its memory over a step");
  sub->add_flag("--json", command->request.json, "as JSON instead of text");
  sub->callback([command, sub, &action] {
    action = [command, sub] { return runExplain(*command, *sub); };
  });
}

} // namespace mtc::tool
