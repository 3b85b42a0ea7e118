//===- run_options.cpp - how a bundle is trained, as options --------------===//

#include "tools/mtc/run_options.h"

#include "compiler/install.h"
#include "tools/mtc/numbers.h"
#include "tools/mtc/run_checks.h"
#include "tools/mtc/run_given.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <string_view>
#include <utility>

using mtc::runtime::RunOptions;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::tool {
namespace {

using Problems = std::vector<std::string>;

/// A time to wait for something that may never come. Ranks give four signs of
/// life a second; milliseconds of the most are an int still.
constexpr NumberBounds kSeconds = {.least = 1, .most = 1e6};

std::vector<std::string> commNames() {
  std::vector<std::string> names;
  for (const runtime::CommInfo &comm : runtime::kComms)
    names.emplace_back(comm.name);
  return names;
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

void addGpus(CLI::App &sub, RunCommand &command) {
  RunOptions &options = command.options;
  sub.add_flag("!--no-graph", options.graphs,
               "GPUs: launch what a step computes one by one, and not as "
               "graphs; to look for a fault");
  addInteger(
      sub, "--device", {0, INT32_MAX},
      [&](int64_t device) { options.device = static_cast<int>(device); },
      "the GPU of this process, from 0, of a bundle for GPUs; if not given: "
      "that of its number among the ranks of its host, modulo the GPUs there");
  sub.add_option("--gemm-table", options.gemmTable,
                 "a file of mtc tune: GPUs compute products by its "
                 "algorithms; if not given: by the first guess of cuBLASLt, of "
                 "the lowest rank that has the product");
}

void addLog(CLI::App &sub, RunCommand &command) {
  RunOptions &options = command.options;
  sub.add_option("--log", options.logFile,
                 "JSON lines, one per step; an earlier log is kept as FILE.1");
  sub.add_flag("--append", options.appendLog, "continue an earlier log");
  sub.add_option("--log-style", command.logStyle,
                 "mtc, or megatron: also a line of Megatron-LM's form on "
                 "standard output for each step that is logged, and no "
                 "progress line")
      ->check(CLI::IsMember({"mtc", "megatron"}));
  addInteger(
      sub, "--timing-log-level", {0, 2},
      [&](int64_t level) { options.timingLevel = level; },
      "named times of a step in the log, least, mean and largest over "
      "ranks: 1: forward, backward, collectives, ...; 2: parts of "
      "these; default: 0, none");
  addInteger(sub, "--log-interval", options.logInterval, 1,
             "a line every so many steps, and of the last one; default: 1");
  sub.add_option("--tensorboard-dir", options.tensorboardDir,
                 "folder for the numbers of the log as events of TensorBoard; "
                 "each run adds a file");
  addNumber(sub, "--peak-tflops", command.peakTflops,
            {.least = 1e-6, .most = 1e9},
            "10^12 operations that a rank could make in a second, for MFU, the "
            "share of them that the model uses");
}

void addTraces(CLI::App &sub, RunCommand &command) {
  RunOptions &options = command.options;
  sub.add_option("--trace", options.traceFile,
                 "JSON of what each rank did when in one step, which "
                 "ui.perfetto.dev shows: fragments, collectives, transfers, "
                 "waits");
  addInteger(sub, "--trace-step", options.traceStep, 1,
             "the step of --trace, from 1; if not given: the last");
  sub.add_option("--profile", command.profile,
                 "the same file of several steps, which are in memory until "
                 "then: --profile-step-start to --profile-step-end");
  addInteger(sub, "--profile-step-start", command.profileStart, 1,
             "the first step of --profile; if not given: that of the run");
  addInteger(sub, "--profile-step-end", command.profileEnd, 1,
             "the last step of --profile; if not given: that of the run");
}

/// What a run begins with, what it leaves, and where it ends in between.
void addCheckpoints(CLI::App &sub, RunCommand &command) {
  RunOptions &options = command.options;
  sub.add_option("--init-from", options.initFrom,
                 "safetensors file of initial parameters");
  sub.add_option("--save", options.saveTo,
                 "safetensors file of the parameters after the run, also when "
                 "it is stopped or ends at a loss that is not finite");
  sub.add_option("--checkpoints", options.checkpoints,
                 "folder of checkpoints: one is written at the end, also when "
                 "the run is stopped, and as --save-interval says");
  addInteger(sub, "--save-interval", options.saveInterval, 1,
             "write a checkpoint every so many steps");
  addInteger(sub, "--keep", options.keepCheckpoints, 1,
             "keep so many checkpoints, the newest ones; not given: all");
  sub.add_flag("--async-save", options.asyncSave,
               "write checkpoints beside training, from a copy in memory of "
               "their size; the last one as without it");
  sub.add_flag("--resume", options.resume,
               "go on from the newest whole checkpoint, in this layout or "
               "another; begin anew if there is none yet");
  addInteger(sub, "--exit-interval", options.exitInterval, 1,
             "end behind the next step that this divides, with a checkpoint");
  addNumber(sub, "--exit-duration-in-mins", command.exitMinutes,
            {.least = 1e-6, .most = 1e6},
            "end behind the step in progress after so many minutes, with a "
            "checkpoint");
  sub.add_option("--load", options.load,
                 "begin with this checkpoint, or the newest whole one of this "
                 "folder, unless --resume finds one of the run's own");
}

/// What tells of parameters, gradients and losses beside training.
void addLooks(CLI::App &sub, RunCommand &command) {
  RunOptions &options = command.options;
  sub.add_option("--dump", command.dumps,
                 "init, logits, grads[@STEP] or params[@STEP], and a folder: "
                 "--dump grads@1 out")
      ->type_name("WHAT FOLDER");
  addInteger(sub, "--eval", options.evalBatches, 1,
             "no training: mean loss over this many global batches");
  addInteger(sub, "--eval-first", options.evalFirst, 0,
             "the first sample of --eval, from 0");
}

/// What becomes of a run whose ranks wait for ever, or die.
void addFailures(CLI::App &sub, RunCommand &command) {
  RunOptions &options = command.options;
  addNumber(sub, "--timeout", options.timeout,
            {.least = kSeconds.least, .most = kSeconds.most, .orZero = true},
            "end the run when no rank begins a step for so many seconds; 0: "
            "never; if not given: five times the longest step, at least 600");
  addInteger(sub, "--max-restarts", options.maxRestarts, 0,
             "when a rank dies or hangs, start all again from the last "
             "checkpoint, so often, if one was written since the last start");
  sub.add_option("--flight", options.flight,
                 "folder for what each rank did last, when one dies, hangs or "
                 "disagrees (mtc flight); if not given: flight in the folder "
                 "of --checkpoints");
}

void addProgress(CLI::App &sub, RunCommand &command) {
  sub.add_option(
         "--progress", command.progress,
         "plain: a line every 10 seconds; bar: one line that is written "
         "again; none; if not given: bar on a terminal, else plain")
      ->check(CLI::IsMember({"plain", "bar", "none"}));
  sub.add_flag("-q,--quiet", command.quiet, "the same as --progress none");
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

/// The words of --progress; a terminal decides if there is none.
const std::map<std::string, runtime::ProgressKind> kProgress = {
    {"", runtime::ProgressKind::automatic},
    {"bar", runtime::ProgressKind::bar},
    {"none", runtime::ProgressKind::none},
    {"plain", runtime::ProgressKind::plain}};

/// Of a file, or of one that comes with mtc.
Status readRecipeFile(RunCommand &command) {
  RunOptions &options = command.options;
  if (command.recipeFile.empty())
    return Status::okay();
  options.recipeFile = compiler::findRecipe(command.recipeFile);
  if (options.recipeFile.empty())
    options.recipeFile = command.recipeFile; // whose error names it
  return runtime::readRecipe(options.recipeFile, options.recipe);
}

/// Rules about several values are asked where each is known, or the default of
/// one that nobody could read would break them.
void takeRecipe(RunCommand &command, Problems &problems) {
  RunOptions &options = command.options;
  Problems wrong = command.recipe.apply(options.recipe);
  if (wrong.empty()) {
    if (options.evalBatches == 0 && options.recipe.eval_interval == 0 &&
        !options.recipe.eval_data.empty())
      wrong.push_back("--eval-data: expected --eval-interval STEPS or --eval "
                      "BATCHES with it");
    if (Status status = runtime::checkRecipe(options.recipe); !status.ok())
      wrong.push_back(status.message());
  }
  std::ranges::move(wrong, std::back_inserter(problems));
}

void takeDumps(RunCommand &command, Problems &problems) {
  for (const auto &[what, folder] : command.dumps) {
    runtime::DumpRequest request;
    Status status = runtime::parseDump(what, folder, request);
    if (status.ok())
      command.options.dumps.push_back(std::move(request));
    else
      problems.push_back(status.message());
  }
}

/// As --trace of several steps.
void takeProfile(RunCommand &command) {
  if (command.profile.empty())
    return;
  RunOptions &options = command.options;
  options.traceFile = command.profile;
  options.traceStep = command.profileStart;
  options.traceLast = command.profileEnd;
  options.traceToEnd = command.profileEnd == 0;
}

void takeProgress(RunCommand &command) {
  RunOptions &options = command.options;
  options.megatronLines = command.logStyle == "megatron";
  // Its lines say how far the run is.
  if (options.megatronLines && command.progress.empty())
    command.quiet = true;
  options.progress = command.quiet ? runtime::ProgressKind::none
                                   : kProgress.at(command.progress);
}

std::string indented(std::string_view lines) {
  std::string text;
  for (char c : lines)
    text += c == '\n' ? "\n  " : std::string(1, c);
  return text;
}

/// A line for each, further in those of one that has several.
Status usage(const Problems &problems) {
  if (problems.empty())
    return Status::okay();
  std::string text = problems.front();
  for (const std::string &problem : problems | std::views::drop(1))
    text += "\n  " + indented(problem);
  return {StatusCode::usage, text};
}

/// Says all at once that is wrong, but for a recipe's file, on which the rest
/// depends and whose errors have codes of their own.
Status takeOptions(RunCommand &command) {
  RunOptions &options = command.options;
  MTC_RETURN_IF_ERROR(readRecipeFile(command));
  // The command line took a name of the table only.
  if (!command.comm.empty())
    options.comm = *idNamed(runtime::kComms, command.comm);
  Problems problems = command.recipe.foreign();
  std::ranges::move(checkTogether(command), std::back_inserter(problems));
  takeDumps(command, problems);
  takeRecipe(command, problems);
  MTC_RETURN_IF_ERROR(usage(problems));
  takeProfile(command);
  takeProgress(command);
  options.exitMinutes = command.exitMinutes.value_or(0);
  options.peakTflops = command.peakTflops.value_or(0);
  options.mpiFolder = compiler::installFolder() + "/lib/mtc/mpi";
  return Status::okay();
}

} // namespace

std::shared_ptr<RunCommand> addRunOptions(CLI::App &sub) {
  auto command = std::make_shared<RunCommand>();
  RunOptions &options = command->options;
  sub.add_option("bundle", options.bundle, "folder that mtc compile wrote")
      ->required();
  addRecipe(sub, *command);
  sub.add_option("--comm", command->comm,
                 "shm: a process per rank; threads: all ranks in this one; "
                 "mpi: processes of one host or of many; nccl: bundles for "
                 "GPUs, whose collectives go from GPU to GPU; if not given: "
                 "nccl for such bundles, else mpi where a launcher started "
                 "several, else shm")
      ->check(CLI::IsMember(commNames()));
  addHosts(sub, options);
  addGpus(sub, *command);
  sub.add_flag("--strict", options.strict, "threads: detect deadlocks exactly");
  addLog(sub, *command);
  addTraces(sub, *command);
  addCheckpoints(sub, *command);
  addLooks(sub, *command);
  addFailures(sub, *command);
  addProgress(sub, *command);
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
