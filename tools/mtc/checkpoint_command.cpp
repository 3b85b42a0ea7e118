//===- checkpoint_command.cpp - mtc checkpoint ----------------------------===//

#include "mtc/runtime/checkpoints.h"
#include "tools/mtc/commands.h"
#include "tools/mtc/numbers.h"

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <memory>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::tool {
namespace {

struct CheckpointCommand {
  std::string verb, path, other;
  int64_t keep = 0;
  bool json = false;
};

/// What was given and what the verb takes.
Status checkGiven(const CheckpointCommand &c) {
  bool takesOther = c.verb == "diff" || c.verb == "export";
  if (takesOther == c.other.empty())
    return {StatusCode::usage,
            fmt::format("checkpoint {}: expected {}", c.verb,
                        c.verb == "diff"     ? "two paths"
                        : c.verb == "export" ? "a path and the file to write"
                                             : "one path")};
  if ((c.verb == "prune") != (c.keep > 0))
    return {StatusCode::usage, "checkpoint prune, and no other action, expects "
                               "--keep N"};
  if (c.json && (c.verb == "export" || c.verb == "prune"))
    return {StatusCode::usage,
            fmt::format("checkpoint {}: expected no --json", c.verb)};
  return Status::okay();
}

Status runVerb(const CheckpointCommand &c, std::string &text) {
  if (c.verb == "info")
    return runtime::describeCheckpoints(c.path, c.json, text);
  if (c.verb == "verify")
    return runtime::verifyCheckpoints(c.path, c.json, text);
  if (c.verb == "prune")
    return runtime::pruneFolder(c.path, c.keep, text);
  if (c.verb == "export")
    return runtime::exportParameters(c.path, c.other);
  bool same = false;
  MTC_RETURN_IF_ERROR(
      runtime::diffCheckpoints(c.path, c.other, c.json, text, same));
  return same ? Status::okay() : Status(StatusCode::differ, "");
}

Status runCheckpoint(const CheckpointCommand &command) {
  MTC_RETURN_IF_ERROR(checkGiven(command));
  std::string text;
  Status status = runVerb(command, text);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return status;
}

} // namespace

void addCheckpoint(CLI::App &app, Action &action) {
  auto command = std::make_shared<CheckpointCommand>();
  CLI::App *sub = app.add_subcommand("checkpoint", "looks at checkpoints");
  sub->footer("examples:\n"
              "  mtc checkpoint info ckpt\n"
              "  mtc checkpoint verify ckpt/step-00001000\n"
              "  mtc checkpoint diff a/step-00001000 b/step-00001000\n"
              "  mtc checkpoint prune ckpt --keep 3\n"
              "  mtc checkpoint export ckpt weights.safetensors");
  sub->add_option("action", command->verb,
                  "info: what they say of themselves; verify: reads all bytes; "
                  "diff: which elements of two differ, ends with 10 if any do; "
                  "prune: removes old ones; export: writes the parameters as a "
                  "safetensors file, which --init-from takes")
      ->required()
      ->check(CLI::IsMember({"info", "verify", "diff", "prune", "export"}));
  sub->add_option("path", command->path,
                  "a checkpoint, or a folder of some, which stands for its "
                  "newest where one is needed")
      ->required();
  sub->add_option("other", command->other,
                  "diff: the other one; export: the file to write");
  addInteger(*sub, "--keep", command->keep, 1,
             "prune: how many whole ones stay, the newest");
  sub->add_flag("--json", command->json, "info, verify, diff: as JSON");
  sub->callback([command, &action] {
    action = [command] { return runCheckpoint(*command); };
  });
}

} // namespace mtc::tool
