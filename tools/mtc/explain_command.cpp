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
/// What --kernels alone stands for.
constexpr const char *kOwn = "own";

struct ExplainCommand {
  runtime::ExplainRequest request;
  std::string parameter, collective, card;
  int64_t rank = -1, stage = -1;
};

/// Of the question --kernels.
Status readKernels(ExplainCommand &command, const CLI::App &sub) {
  bool asked = sub.count("--kernels") > 0;
  for (const char *option : {"--stage", "--registers"})
    if (!asked && sub.count(option) > 0)
      return {StatusCode::usage,
              std::string(option) + ": expected --kernels with it"};
  if (asked)
    command.request.kernels = command.card == kOwn ? "" : command.card;
  if (command.stage >= 0)
    command.request.stage = command.stage;
  return Status::okay();
}

Status runExplain(ExplainCommand &command, const CLI::App &sub) {
  if (sub.count("--svg") > 0 && command.rank < 0)
    return {StatusCode::usage, "--svg: expected --rank N with it"};
  MTC_RETURN_IF_ERROR(readKernels(command, sub));
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
              "  mtc explain nano.mtc --rank 0 --svg memory.svg\n"
              "  mtc explain gpu.mtc --kernels H100 --registers");
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
  auto *kernels =
      sub->add_option("--kernels", command->card,
                      "of a bundle for GPUs: what each kernel and call of a "
                      "step computes and moves, and the least time of that by "
                      "the data sheet of A100, H100, H200 or B200; without a "
                      "name, of that which the bundle is for")
          ->expected(0, 1)
          ->default_str(kOwn);
  parameter->excludes(collective)->excludes(rank)->excludes(kernels);
  collective->excludes(rank)->excludes(kernels);
  kernels->excludes(rank);
  addInteger(*sub, "--stage", command->stage, 0,
             "with --kernels: of which stage; by default the busiest");
  sub->add_flag("--registers", command->request.registers,
                "with --kernels: registers and occupancy of kernels, by the "
                "CUDA toolkit's ptxas where it is installed");
  sub->add_option("--svg", command->request.svg,
                  "with --rank: file for a picture of its memory over a step");
  sub->add_flag("--json", command->request.json, "as JSON instead of text");
  sub->callback([command, sub, &action] {
    action = [command, sub] { return runExplain(*command, *sub); };
  });
}

} // namespace mtc::tool
