//===- compile_command.cpp - mtc compile ----------------------------------===//

#include "compiler/compile.h"
#include "compiler/interrupt.h"
#include "compiler/link/helpers.h"
#include "models/nearest.h"
#include "mtc/runtime/isa.h"
#include "runtime/base/output_files.h"
#include "tools/mtc/commands.h"
#include "tools/mtc/numbers.h"
#include "tools/mtc/standard_files.h"
#include "tools/mtc/strategy_options.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <thread>

#include <fmt/format.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace fs = std::filesystem;

namespace mtc::tool {
namespace {

struct CompileCommand {
  compiler::CompileOptions options;
  StrategyOptions strategy;
  std::string from, to;
  std::vector<std::string> printAfter;
  bool json = false;
};

Status readPhase(const char *option, const std::string &name,
                 std::optional<passes::Phase> &phase) {
  if (name.empty())
    return Status::okay();
  phase = passes::phaseNamed(name);
  if (phase)
    return Status::okay();
  std::vector<std::string_view> names;
  for (const passes::PhaseInfo &info : passes::allPhases())
    names.push_back(info.name);
  std::string near = models::nearestName(name, names);
  return {StatusCode::usage,
          fmt::format("{}: expected one of {}, found '{}'{}", option,
                      passes::phaseNames(), name,
                      near.empty() ? "" : ", did you mean '" + near + "'?")};
}

void printSummary(const CompileCommand &command,
                  const compiler::CompileResult &result) {
  if (result.report.is_null())
    return;
  if (command.json) {
    nlohmann::ordered_json json = result.report;
    json["output"] = command.options.output;
    json["compile_seconds"] = result.seconds;
    std::printf("%s\n", json.dump(2).c_str());
    return;
  }
  std::printf("%scompiled in    %.2f s\nbundle         %s\n",
              result.reportText.c_str(), result.seconds,
              command.options.output.c_str());
}

Status checkOutput(const compiler::CompileOptions &options) {
  runtime::CommandFiles files;
  std::error_code error;
  if (fs::is_regular_file(options.input, error)) // else a spec that has a name
    files.inputs.push_back({"the model", options.input});
  if (fs::is_regular_file(options.strategyFile, error))
    files.inputs.push_back({"--strategy", options.strategyFile});
  if (!options.output.empty() && options.output != "-")
    files.outputs.push_back({"--output", options.output});
  if (!options.saveIR.empty())
    files.folders.push_back({"--save-ir", options.saveIR});
  return runtime::checkFiles(files);
}

/// None where nothing is linked. At most one for each processor: they compute.
size_t linkHelpersFor(const CompileCommand &command) {
  if (!command.to.empty() && command.to != toString(passes::Phase::link))
    return 0;
  size_t processors = std::max(std::thread::hardware_concurrency(), 1u);
  return std::min(static_cast<size_t>(command.options.threads), processors);
}

/// Phases free what the next one takes again. By default glibc gives the pages
/// of the heap's end back at once, and gets them anew, cleared.
void keepFreedMemory() {
#ifdef __GLIBC__
  constexpr int kMost = std::numeric_limits<int>::max(); // 2 GiB
  mallopt(M_TRIM_THRESHOLD, kMost);
  mallopt(M_TOP_PAD, 64 << 20);
#endif
}

Status runCompile(CompileCommand &command) {
  MTC_RETURN_IF_ERROR(command.strategy.check());
  // In front of the first thread, which watches for interrupts.
  compiler::LinkHelpers helpers(linkHelpersFor(command));
  command.options.linkHelpers = &helpers;
  keepFreedMemory();
  compiler::watchInterrupts();
  MTC_RETURN_IF_ERROR(readPhase("--from", command.from, command.options.from));
  MTC_RETURN_IF_ERROR(
      readPhase("--compile-to", command.to, command.options.to));
  for (const std::string &name : command.printAfter) {
    std::optional<passes::Phase> phase;
    MTC_RETURN_IF_ERROR(readPhase("--mlir-print-ir-after", name, phase));
    if (phase)
      command.options.printAfter.push_back(*phase);
  }
  command.options.strategy = command.strategy.given();
  command.options.progress = lineToStderr;
  MTC_RETURN_IF_ERROR(checkOutput(command.options));
  static auto &result = *new compiler::CompileResult; // the process ends soon
  MTC_RETURN_IF_ERROR(compiler::compile(command.options, result));
  printSummary(command, result);
  return Status::okay();
}

} // namespace

void addCompile(CLI::App &app, Action &action) {
  auto command = std::make_shared<CompileCommand>();
  CLI::App *sub =
      app.add_subcommand("compile", "compiles a model to a folder of programs");
  sub->footer("examples:\n"
              "  mtc compile gpt2-nano --tp 2 --pp 2 --gbs 16 -o nano.mtc\n"
              "  mtc compile spec.toml --strategy s.toml --save-ir ir -o out\n"
              "  mtc compile ir/08-verify-partitioned.mlir -o out\n"
              "  mtc compile gpt2-nano --gbs 2 --mlir-print-ir-after partition "
              "-o out\n"
              "  mtc compile gpt2-nano --gbs 2 --target cuda:sm_90 "
              "--compile-to kernels -o ptx");
  sub->add_option("spec", command->options.input,
                  "spec file, name of a spec, or IR (*.mlir; - for IR on "
                  "standard input)")
      ->required();
  sub->add_option("--strategy", command->options.strategyFile,
                  "strategy file (TOML), or name of a strategy that comes "
                  "with mtc");
  sub->add_option("-o,--output", command->options.output,
                  "folder of the bundle; with --compile-to a file, or for a "
                  "CUDA target the folder of its PTX files");
  sub->add_option("--isa", command->options.isa,
                  runtime::isaNames() +
                      "; default: this machine's best for the dtype");
  sub->add_option("--save-ir", command->options.saveIR,
                  "folder for the IR after each phase");
  sub->add_option("--compile-to", command->to,
                  "stop after this phase (mtc help phases)");
  sub->add_option("--from", command->from,
                  "the phase whose result the IR is; default: as saved");
  sub->add_option("--mlir-print-ir-after", command->printAfter,
                  "phases, separated by commas, whose results go to stderr")
      ->delimiter(',')
      ->allow_extra_args(false);
  sub->add_flag("--mlir-timing", command->options.timing,
                "where the time went, to stderr at the end");
  sub->add_flag("!--no-verify", command->options.verify,
                "leave out the verify-* phases; the programs may hang or lose "
                "values, and the report says that nobody looked");
  sub->add_flag("--verify-each", command->options.verifyEach,
                "MLIR's verifier behind each pass, as where the input is IR; "
                "else before verify-plan, and of IR that is written");
  sub->add_flag(
      "--cubin", command->options.cubin,
      "of a CUDA target: the bundle has what ptxas of the CUDA "
      "toolkit assembles beside its PTX, for each architecture, which "
      "the driver then need not do when a rank starts");
  addInteger(
      *sub, "-j,--jobs", {1, 1024},
      [command](int64_t jobs) {
        command->options.threads = static_cast<int>(jobs);
      },
      "stages compiled at a time");
  sub->add_flag("--json", command->json, "print the report as JSON");
  addSettings(*sub, command->options.settings);
  command->strategy.addTo(*sub);
  sub->callback([command, &action] {
    action = [command] { return runCompile(*command); };
  });
}

} // namespace mtc::tool
