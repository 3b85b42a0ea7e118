//===- run_command.cpp - mtc run ------------------------------------------===//

#include "mtc/runtime/run.h"
#include "tools/mtc/commands.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

using mtc::runtime::Recipe;
using mtc::runtime::RunOptions;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::tool {
namespace {

/// Values given on the command line, which replace the recipe file's.
class RecipeOptions {
public:
  /// Adds an option for one field of the recipe.
  template <typename T>
  CLI::Option *add(CLI::App &sub, const std::string &flag, T Recipe::*field,
                   const std::string &what) {
    return sub
        .add_option_function<T>(
            flag,
            [this, field](const T &value) {
              setters_.push_back(
                  [field, value](Recipe &recipe) { recipe.*field = value; });
            },
            what)
        ->group("Recipe");
  }
  void apply(Recipe &recipe) const {
    for (const auto &set : setters_)
      set(recipe);
  }

private:
  std::vector<std::function<void(Recipe &)>> setters_;
};

struct RunCommand {
  RunOptions options;
  RecipeOptions recipe;
  std::string recipeFile;
  std::string comm{runtime::kComms[0].name};
  std::vector<std::pair<std::string, std::string>> dumps;
  bool progress = false, quiet = false;
};

std::vector<std::string> commNames() {
  std::vector<std::string> names;
  for (const runtime::CommInfo &comm : runtime::kComms)
    names.emplace_back(comm.name);
  return names;
}

Status runRun(RunCommand &command) {
  RunOptions &options = command.options;
  if (!command.recipeFile.empty())
    MTC_RETURN_IF_ERROR(
        runtime::readRecipe(command.recipeFile, options.recipe));
  command.recipe.apply(options.recipe);
  MTC_RETURN_IF_ERROR(runtime::checkRecipe(options.recipe));
  // The command line took a name of the table only.
  options.comm = *idNamed(runtime::kComms, command.comm);
  if (options.strict && options.comm != runtime::CommKind::threads)
    return {StatusCode::usage, "--strict: expected --comm threads with it"};
  if (options.timeout.value_or(0) > 0 && options.comm != runtime::CommKind::shm)
    return {StatusCode::usage, "--timeout: expected --comm shm with it, whose "
                               "ranks are processes that can be ended"};
  for (const auto &[what, folder] : command.dumps) {
    runtime::DumpRequest request;
    MTC_RETURN_IF_ERROR(runtime::parseDump(what, folder, request));
    options.dumps.push_back(std::move(request));
  }
  if (command.progress)
    options.progress = runtime::ProgressKind::always;
  if (command.quiet)
    options.progress = runtime::ProgressKind::never;
  return runtime::runBundle(options);
}

void addRecipe(CLI::App &sub, RunCommand &command) {
  RecipeOptions &recipe = command.recipe;
  sub.add_option("--recipe", command.recipeFile, "recipe file (TOML)")
      ->group("Recipe");
  recipe.add(sub, "--data", &Recipe::data, "flat file of tokens");
  recipe.add(sub, "--data-type", &Recipe::data_dtype, "u8, u16 or i32");
  recipe.add(sub, "--order", &Recipe::order, "shuffled or sequential");
  recipe.add(sub, "--steps", &Recipe::steps, "steps to train");
  recipe.add(sub, "--lr", &Recipe::lr, "highest learning rate");
  recipe.add(sub, "--min-lr", &Recipe::min_lr, "lowest learning rate");
  recipe.add(sub, "--warmup", &Recipe::warmup_steps, "steps of warm-up");
  recipe.add(sub, "--decay", &Recipe::decay, "cosine, linear or constant");
  recipe.add(sub, "--decay-steps", &Recipe::decay_steps,
             "steps until the lowest rate; 0: all");
  recipe.add(sub, "--beta1", &Recipe::beta1, "AdamW");
  recipe.add(sub, "--beta2", &Recipe::beta2, "AdamW");
  recipe.add(sub, "--eps", &Recipe::eps, "AdamW");
  recipe.add(sub, "--weight-decay", &Recipe::weight_decay, "AdamW");
  recipe.add(sub, "--clip", &Recipe::clip,
             "threshold of the gradient norm; 0: none");
  recipe.add(sub, "--seed", &Recipe::seed, "of weights, dropout and order")
      ->check(
          CLI::NonNegativeNumber); // the conversion would take it modulo 2^64
}

} // namespace

void addRun(CLI::App &app, Action &action) {
  auto command = std::make_shared<RunCommand>();
  RunOptions &options = command->options;
  CLI::App *sub = app.add_subcommand("run", "trains a compiled bundle");
  sub->footer("examples:\n"
              "  mtc run nano.mtc --data tokens.bin --steps 100\n"
              "  mtc run nano.mtc --recipe r.toml --comm threads --strict");
  sub->add_option("bundle", options.bundle, "folder that mtc compile wrote")
      ->required();
  addRecipe(*sub, *command);
  sub->add_option("--comm", command->comm,
                  "shm: a process per rank; threads: all ranks in this one")
      ->check(CLI::IsMember(commNames()));
  sub->add_flag("--strict", options.strict,
                "threads: detect deadlocks exactly");
  sub->add_option("--log", options.logFile, "JSON lines, one per step");
  sub->add_option("--init-from", options.initFrom,
                  "safetensors file of initial parameters");
  sub->add_option("--save", options.saveTo,
                  "safetensors file of the parameters after the run");
  sub->add_option("--dump", command->dumps,
                  "init, logits, grads[@STEP] or params[@STEP], and a folder");
  sub->add_option("--eval", options.evalBatches,
                  "no training: mean loss over this many global batches")
      ->check(CLI::PositiveNumber);
  sub->add_option("--timeout", options.timeout,
                  "end the run when no rank begins a step for so many seconds; "
                  "0: never; if not given: five times the longest step, at "
                  "least 600")
      ->check(CLI::NonNegativeNumber);
  sub->add_flag("--progress", command->progress, "always show progress");
  sub->add_flag("-q,--quiet", command->quiet, "never show progress");
  sub->callback(
      [command, &action] { action = [command] { return runRun(*command); }; });
}

} // namespace mtc::tool
