//===- run_options.cpp - how a bundle is trained, as options --------------===//

#include "tools/mtc/run_options.h"

#include "compiler/install.h"
#include "mtc/runtime/recipe_fields.h"
#include "mtc/runtime/run.h"
#include "tools/mtc/megatron_options.h"
#include "tools/mtc/numbers.h"

#include <CLI/CLI.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

using mtc::runtime::Recipe;
using mtc::runtime::RecipeField;
using mtc::runtime::RunOptions;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::tool {
namespace {

/// Values given on the command line, which replace the recipe file's.
class RecipeOptions {
public:
  /// Adds an option for every field of a recipe.
  void addTo(CLI::App &sub) {
    for (const RecipeField &field : runtime::recipeFields()) {
      CLI::Option *option = sub.add_option_function<std::string>(
          flagsOf(field),
          [this, &field](const std::string &text) {
            given_.emplace_back(&field, text);
          },
          help(field));
      option
          ->type_name(
              std::holds_alternative<std::string Recipe::*>(field.member)
                  ? "TEXT"
                  : "NUMBER")
          ->group("Recipe");
      if (field.optionWords > 1)
        option->expected(field.optionWords)->join(' ');
    }
    megatron_.addTo(sub, MegatronUse::run);
  }
  /// Errors: usage, all values that are of another type at once. Steps that are
  /// given replace the file's samples.
  Status apply(Recipe &recipe) const {
    MTC_RETURN_IF_ERROR(megatron_.check());
    if (isGiven("steps") && isGiven("samples"))
      return {StatusCode::usage,
              "--steps and --samples: expected one of them, found both"};
    if (isGiven("steps"))
      recipe.samples = 0;
    std::string problems;
    for (const auto &[field, text] : given_)
      if (!setField(*field, text, recipe))
        problems += fmt::format("{}--{}: expected {}, found '{}'",
                                problems.empty() ? "" : "\n  ", field->option,
                                expectedOf(*field), text);
    return problems.empty() ? Status::okay()
                            : Status(StatusCode::usage, problems);
  }

private:
  static std::string flagsOf(const RecipeField &field) {
    std::string flags = fmt::format("--{}", field.option);
    std::istringstream aliases(field.aliases);
    for (std::string alias; aliases >> alias;)
      flags += fmt::format(",--{}", alias);
    return flags;
  }
  bool isGiven(std::string_view key) const {
    return std::ranges::any_of(
        given_, [&](const auto &each) { return each.first->key == key; });
  }
  static std::string help(const RecipeField &field) {
    std::string text = field.meaning;
    if (!field.words.empty())
      text += fmt::format(": {}", fmt::join(field.words, ", "));
    std::string value = textOf(field, Recipe());
    return value.empty() ? text : fmt::format("{} (default {})", text, value);
  }

  std::vector<std::pair<const RecipeField *, std::string>> given_;
  MegatronOptions megatron_;
};

} // namespace

struct RunCommand {
  RunOptions options;
  RecipeOptions recipe;
  std::string recipeFile;
  std::string comm;
  std::vector<std::pair<std::string, std::string>> dumps;
  std::string progress;
  bool quiet = false;
  std::optional<double> exitMinutes, peakTflops;
  std::string logStyle = "mtc", profile;
  int64_t profileStart = 0, profileEnd = 0;
};

namespace {

/// A time to wait for something that may never come. Ranks give four signs of
/// life a second; milliseconds of the most are an int still.
constexpr NumberBounds kSeconds = {.least = 1, .most = 1e6};

/// The words of --progress; a terminal decides if there is none.
const std::map<std::string, runtime::ProgressKind> kProgress = {
    {"", runtime::ProgressKind::automatic},
    {"bar", runtime::ProgressKind::bar},
    {"none", runtime::ProgressKind::none},
    {"plain", runtime::ProgressKind::plain}};

std::vector<std::string> commNames() {
  std::vector<std::string> names;
  for (const runtime::CommInfo &comm : runtime::kComms)
    names.emplace_back(comm.name);
  return names;
}

/// --profile is --trace of several steps.
Status takeProfile(RunCommand &command) {
  RunOptions &options = command.options;
  bool hasSteps = command.profileStart > 0 || command.profileEnd > 0;
  if (command.profile.empty())
    return hasSteps ? Status(StatusCode::usage,
                             "--profile-step-start and --profile-step-end: "
                             "expected --profile FILE with them")
                    : Status::okay();
  if (!options.traceFile.empty())
    return {StatusCode::usage, "--profile: expected no --trace with it, which "
                               "is one step of the same"};
  // A flag in Megatron-LM, in front of its own --profile-step-start.
  if (std::ranges::all_of(command.profile,
                          [](char c) { return '0' <= c && c <= '9'; }))
    return {StatusCode::usage,
            fmt::format("--profile: expected the name of a file, found the "
                        "number {}; its steps are --profile-step-start and "
                        "--profile-step-end, and ./{} is a file of that name",
                        command.profile, command.profile)};
  options.traceFile = command.profile;
  options.traceStep = command.profileStart;
  options.traceLast = command.profileEnd;
  options.traceToEnd = command.profileEnd == 0;
  return Status::okay();
}

Status takeOptions(RunCommand &command) {
  RunOptions &options = command.options;
  if (!command.recipeFile.empty()) {
    options.recipeFile = compiler::findRecipe(command.recipeFile);
    if (options.recipeFile.empty())
      options.recipeFile = command.recipeFile; // whose error names it
    MTC_RETURN_IF_ERROR(
        runtime::readRecipe(options.recipeFile, options.recipe));
  }
  MTC_RETURN_IF_ERROR(command.recipe.apply(options.recipe));
  MTC_RETURN_IF_ERROR(runtime::checkRecipe(options.recipe));
  // The command line took a name of the table only.
  if (!command.comm.empty())
    options.comm = *idNamed(runtime::kComms, command.comm);
  if (options.appendLog && options.logFile.empty())
    return {StatusCode::usage, "--append: expected --log FILE with it"};
  bool isOfCheckpoints = options.saveInterval > 0 ||
                         options.keepCheckpoints > 0 || options.asyncSave ||
                         options.resume;
  if (isOfCheckpoints && options.checkpoints.empty())
    return {StatusCode::usage, "--save-interval, --keep, --async-save and "
                               "--resume: expected --checkpoints DIR with "
                               "them"};
  if ((options.resume || !options.load.empty()) && !options.initFrom.empty())
    return {StatusCode::usage, "--resume and --load: expected no --init-from "
                               "with them: a checkpoint has all parameters"};
  if (options.evalBatches > 0 && !options.checkpoints.empty())
    return {StatusCode::usage, "--checkpoints: an evaluation writes none; "
                               "--load DIR evaluates the newest one of DIR"};
  if (options.traceStep > 0 && options.traceFile.empty())
    return {StatusCode::usage, "--trace-step: expected --trace FILE with it"};
  if (options.evalBatches == 0 && options.evalFirst > 0)
    return {StatusCode::usage, "--eval-first: expected --eval BATCHES with it"};
  if (options.evalBatches == 0 && options.recipe.eval_interval == 0 &&
      !options.recipe.eval_data.empty())
    return {StatusCode::usage, "--eval-data: expected --eval-interval STEPS or "
                               "--eval BATCHES with it"};
  if (options.strict && options.comm != runtime::CommKind::threads)
    return {StatusCode::usage, "--strict: expected --comm threads with it"};
  bool threads = options.comm == runtime::CommKind::threads;
  if (options.timeout.value_or(0) > 0 && threads)
    return {StatusCode::usage, "--timeout: expected --comm shm or mpi with it, "
                               "whose ranks are processes that can be ended"};
  if (options.maxRestarts > 0 && (options.checkpoints.empty() || threads))
    return {StatusCode::usage,
            "--max-restarts: expected --checkpoints DIR and --comm shm or mpi "
            "with it: all ranks start again from the last checkpoint"};
  for (const auto &[what, folder] : command.dumps) {
    runtime::DumpRequest request;
    MTC_RETURN_IF_ERROR(runtime::parseDump(what, folder, request));
    options.dumps.push_back(std::move(request));
  }
  options.exitMinutes = command.exitMinutes.value_or(0);
  if ((options.exitInterval > 0 || command.exitMinutes) &&
      options.checkpoints.empty())
    return {StatusCode::usage, "--exit-interval and --exit-duration-in-mins: "
                               "expected --checkpoints DIR with them"};
  MTC_RETURN_IF_ERROR(takeProfile(command));
  options.megatronLines = command.logStyle == "megatron";
  options.peakTflops = command.peakTflops.value_or(0);
  // Its lines say how far the run is.
  if (options.megatronLines && command.progress.empty())
    command.quiet = true;
  options.mpiFolder = compiler::installFolder() + "/lib/mtc/mpi";
  options.progress = command.quiet ? runtime::ProgressKind::none
                                   : kProgress.at(command.progress);
  return Status::okay();
}

std::vector<runtime::GivenOption> givenOptions(const CLI::App &sub) {
  std::vector<runtime::GivenOption> given;
  for (const CLI::Option *option : sub.get_options())
    if (option->count() > 0 && !option->get_lnames().empty()) {
      bool isFlag = option->get_expected_max() == 0;
      given.push_back(
          {option->get_lnames().front(),
           isFlag ? "" : fmt::format("{}", fmt::join(option->results(), " "))});
    }
  return given;
}

void addRecipe(CLI::App &sub, RunCommand &command) {
  sub.add_option(
         "--recipe", command.recipeFile,
         "recipe file (TOML), or the name of one that comes with mtc (mtc "
         "help recipes)")
      ->group("Recipe");
  command.recipe.addTo(sub);
}

/// What a launcher says in the environment, and more of many hosts.
void addHosts(CLI::App &sub, RunOptions &options) {
  addInteger(sub, "-n,--ranks", options.ranks, 1,
             "how many ranks are expected: those that the bundle has")
      ->group("Hosts");
  sub.add_option("--mpi", options.mpi,
                 "the library: mpich or openmpi; if not given: the launcher's, "
                 "else mpich")
      ->check(CLI::IsMember({"mpich", "openmpi"}))
      ->group("Hosts");
  sub.add_flag("--mpi-inside-hosts", options.mpiInsideHosts,
               "ranks of one host talk over MPI, too; if not given, they do by "
               "shared memory")
      ->group("Hosts");
  addInteger(
      sub, "--rank", {0, INT32_MAX},
      [&](int64_t rank) { options.rank = static_cast<int>(rank); },
      "this process's rank, from 0")
      ->group("Hosts");
  addInteger(
      sub, "--world", {1, INT32_MAX},
      [&](int64_t world) { options.world = static_cast<int>(world); },
      "how many ranks there are")
      ->group("Hosts");
  sub.add_option("--master", options.master,
                 "HOST:PORT where rank 0 listens for the others")
      ->group("Hosts");
  addNumber(
      sub, "--rdzv-timeout", kSeconds,
      [&](double seconds) { options.meetTimeout = seconds; },
      "seconds that ranks wait for each other at the start; if not given: 600")
      ->group("Hosts");
  addNumber(
      sub, "--heartbeat-timeout", kSeconds,
      [&](double seconds) { options.heartbeatTimeout = seconds; },
      "seconds without a sign of life after which a rank is dead; if not "
      "given: 10")
      ->group("Hosts");
}

} // namespace

std::shared_ptr<RunCommand> addRunOptions(CLI::App &app) {
  auto command = std::make_shared<RunCommand>();
  RunOptions &options = command->options;
  CLI::App *sub = &app;
  sub->add_option("bundle", options.bundle, "folder that mtc compile wrote")
      ->required();
  addRecipe(*sub, *command);
  sub->add_option("--comm", command->comm,
                  "shm: a process per rank; threads: all ranks in this one; "
                  "mpi: processes of one host or of many; nccl: bundles for "
                  "GPUs, whose collectives go from GPU to GPU; if not given: "
                  "nccl for such bundles, else mpi where a launcher started "
                  "several, else shm")
      ->check(CLI::IsMember(commNames()));
  addHosts(*sub, options);
  sub->add_flag("!--no-graph", options.graphs,
                "GPUs: launch what a step computes one by one, and not as "
                "graphs; to look for a fault");
  addInteger(
      *sub, "--device", {0, INT32_MAX},
      [&options](int64_t device) { options.device = static_cast<int>(device); },
      "the GPU of this process, from 0, of a bundle for GPUs; if not given: "
      "that of its number among the ranks of its host, modulo the GPUs there");
  sub->add_option(
      "--gemm-table", options.gemmTable,
      "a file of mtc tune: GPUs compute products by its "
      "algorithms; if not given: by the first guess of cuBLASLt, of "
      "the lowest rank that has the product");
  sub->add_flag("--strict", options.strict,
                "threads: detect deadlocks exactly");
  sub->add_option("--log", options.logFile,
                  "JSON lines, one per step; an earlier log is kept as FILE.1");
  sub->add_flag("--append", options.appendLog, "continue an earlier log");
  sub->add_option("--log-style", command->logStyle,
                  "mtc, or megatron: also a line of Megatron-LM's form on "
                  "standard output for each step that is logged, and no "
                  "progress line")
      ->check(CLI::IsMember({"mtc", "megatron"}));
  addInteger(
      *sub, "--timing-log-level", {0, 2},
      [&options](int64_t level) { options.timingLevel = level; },
      "named times of a step in the log, least, mean and largest over "
      "ranks: 1: forward, backward, collectives, ...; 2: parts of "
      "these; default: 0, none");
  addInteger(*sub, "--log-interval", options.logInterval, 1,
             "a line every so many steps, and of the last one; default: 1");
  sub->add_option("--tensorboard-dir", options.tensorboardDir,
                  "folder for the numbers of the log as events of TensorBoard; "
                  "each run adds a file");
  addNumber(*sub, "--peak-tflops", command->peakTflops,
            {.least = 1e-6, .most = 1e9},
            "10^12 operations that a rank could make in a second, for MFU, the "
            "share of them that the model uses");
  sub->add_option("--trace", options.traceFile,
                  "JSON of what each rank did when in one step, which "
                  "ui.perfetto.dev shows: fragments, collectives, transfers, "
                  "waits");
  addInteger(*sub, "--trace-step", options.traceStep, 1,
             "the step of --trace, from 1; if not given: the last");
  sub->add_option("--profile", command->profile,
                  "the same file of several steps, which are in memory until "
                  "then: --profile-step-start to --profile-step-end");
  addInteger(*sub, "--profile-step-start", command->profileStart, 1,
             "the first step of --profile; if not given: that of the run");
  addInteger(*sub, "--profile-step-end", command->profileEnd, 1,
             "the last step of --profile; if not given: that of the run");
  sub->add_option("--init-from", options.initFrom,
                  "safetensors file of initial parameters");
  sub->add_option("--save", options.saveTo,
                  "safetensors file of the parameters after the run, also when "
                  "it is stopped or ends at a loss that is not finite");
  sub->add_option("--checkpoints", options.checkpoints,
                  "folder of checkpoints: one is written at the end, also when "
                  "the run is stopped, and as --save-interval says");
  addInteger(*sub, "--save-interval", options.saveInterval, 1,
             "write a checkpoint every so many steps");
  addInteger(*sub, "--keep", options.keepCheckpoints, 1,
             "keep so many checkpoints, the newest ones; not given: all");
  sub->add_flag("--async-save", options.asyncSave,
                "write checkpoints beside training, from a copy in memory of "
                "their size; the last one as without it");
  sub->add_flag("--resume", options.resume,
                "go on from the newest whole checkpoint, in this layout or "
                "another; begin anew if there is none yet");
  addInteger(*sub, "--exit-interval", options.exitInterval, 1,
             "end behind the next step that this divides, with a checkpoint");
  addNumber(*sub, "--exit-duration-in-mins", command->exitMinutes,
            {.least = 1e-6, .most = 1e6},
            "end behind the step in progress after so many minutes, with a "
            "checkpoint");
  sub->add_option("--load", options.load,
                  "begin with this checkpoint, or the newest whole one of this "
                  "folder, unless --resume finds one of the run's own");
  sub->add_option("--dump", command->dumps,
                  "init, logits, grads[@STEP] or params[@STEP], and a folder: "
                  "--dump grads@1 out")
      ->type_name("WHAT FOLDER");
  addInteger(*sub, "--eval", options.evalBatches, 1,
             "no training: mean loss over this many global batches");
  addInteger(*sub, "--eval-first", options.evalFirst, 0,
             "the first sample of --eval, from 0");
  addNumber(*sub, "--timeout", options.timeout,
            {.least = kSeconds.least, .most = kSeconds.most, .orZero = true},
            "end the run when no rank begins a step for so many seconds; 0: "
            "never; if not given: five times the longest step, at least 600");
  addInteger(*sub, "--max-restarts", options.maxRestarts, 0,
             "when a rank dies or hangs, start all again from the last "
             "checkpoint, so often, if one was written since the last start");
  sub->add_option("--flight", options.flight,
                  "folder for what each rank did last, when one dies, hangs or "
                  "disagrees (mtc flight); if not given: flight in the folder "
                  "of --checkpoints");
  sub->add_option(
         "--progress", command->progress,
         "plain: a line every 10 seconds; bar: one line that is written "
         "again; none; if not given: bar on a terminal, else plain")
      ->check(CLI::IsMember({"plain", "bar", "none"}));
  sub->add_flag("-q,--quiet", command->quiet, "the same as --progress none");
  return command;
}

Status readRunOptions(RunCommand &command, const CLI::App &sub,
                      RunOptions &out) {
  command.options.given = givenOptions(sub);
  MTC_RETURN_IF_ERROR(takeOptions(command));
  out = command.options;
  return Status::okay();
}

} // namespace mtc::tool
