//===- plot_command.cpp - mtc plot ----------------------------------------===//

#include "runtime/base/file.h"
#include "runtime/base/messages.h"
#include "tools/mtc/commands.h"
#include "tools/mtc/numbers.h"
#include "tools/mtc/picture.h"
#include "tools/plot/event_records.h"
#include "tools/plot/events.h"
#include "tools/plot/plot.h"

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

namespace fs = std::filesystem;

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::tool {
namespace {

/// What one argument names: a file, or the event files of a folder.
struct PlotInput {
  std::string name; ///< as the person wrote it
  bool isFolder = false;
  std::vector<std::string> files;
};

struct PlotCommand {
  std::vector<std::string> logs;
  plot::PlotRequest request;
  std::string svg, png;
};

/// As TensorBoard knows its files.
bool hasEventName(const fs::path &file) {
  return file.filename().string().find("tfevents") != std::string::npos;
}

/// The files of `path`; of a folder those with the name of event files, in
/// order. Errors: inputRejected: none, or a folder that nobody can read.
Status findFiles(const std::string &path, PlotInput &input) {
  input.name = path;
  std::error_code error;
  input.isFolder = fs::is_directory(path, error);
  if (!input.isFolder) {
    input.files = {path}; // if there is none, reading it says so
    return Status::okay();
  }
  fs::directory_iterator entry(path, error), end;
  for (; !error && entry != end; entry.increment(error))
    if (hasEventName(entry->path()) && entry->is_regular_file(error))
      input.files.push_back(entry->path().string());
  std::sort(input.files.begin(), input.files.end());
  if (error || input.files.empty())
    return {StatusCode::inputRejected,
            fmt::format("'{}': expected a log of mtc run, or a folder with "
                        "event files of TensorBoard, found {}",
                        runtime::printable(path),
                        error ? error.message() : "a folder without one")};
  return Status::okay();
}

Status checkOutputs(const PlotCommand &command,
                    const std::vector<PlotInput> &inputs) {
  if (command.svg.empty() && command.png.empty())
    return {StatusCode::usage,
            "plot: expected --svg FILE or --png FILE, found neither"};
  std::vector<runtime::NamedFile> files;
  for (const PlotInput &input : inputs)
    for (const std::string &file : input.files)
      files.push_back({"a log", file});
  MTC_RETURN_IF_ERROR(checkPicture(command.svg, files));
  if (!command.svg.empty())
    files.push_back({"--svg", command.svg});
  return checkPicture(command.png, files, "--png");
}

Status readInput(const PlotInput &input, std::vector<plot::Run> &runs) {
  plot::EventRun events;
  for (const std::string &file : input.files) {
    std::string bytes, name = runtime::printable(file);
    MTC_RETURN_IF_ERROR(runtime::readWholeFile(file, bytes));
    if (!input.isFolder && !hasEventName(file) &&
        !plot::beginsWithRecord(bytes))
      return plot::readRuns(bytes, name, runs);
    MTC_RETURN_IF_ERROR(events.add(bytes, name));
  }
  return events.finish(runtime::printable(input.name), runs);
}

Status runPlot(const PlotCommand &command) {
  std::vector<PlotInput> inputs(command.logs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    MTC_RETURN_IF_ERROR(findFiles(command.logs[i], inputs[i]));
  MTC_RETURN_IF_ERROR(checkOutputs(command, inputs));
  std::vector<plot::Run> runs;
  for (const PlotInput &input : inputs)
    MTC_RETURN_IF_ERROR(readInput(input, runs));
  plot::Drawing drawing;
  MTC_RETURN_IF_ERROR(plot::plot(runs, command.request, drawing));
  if (!command.svg.empty())
    MTC_RETURN_IF_ERROR(
        runtime::writeTextFile(command.svg, plot::toSvg(drawing)));
  if (!command.png.empty())
    MTC_RETURN_IF_ERROR(
        runtime::writeTextFile(command.png, plot::toPng(drawing)));
  return Status::okay();
}

} // namespace

void addPlot(CLI::App &app, Action &action) {
  auto command = std::make_shared<PlotCommand>();
  plot::PlotRequest &request = command->request;
  request.keys = {"loss", "grad_norm", "tokens_per_s"};
  CLI::App *sub = app.add_subcommand(
      "plot", "draws curves of runs from their logs or TensorBoard's events");
  sub->footer("examples:\n"
              "  mtc plot run.jsonl --svg run.svg\n"
              "  mtc plot a.jsonl b.jsonl --y loss --x tokens --log-y --png "
              "both.png\n"
              "  mtc plot run.jsonl megatron-events/ --y loss,grad_norm --svg "
              "both.svg");
  sub->add_option("logs", command->logs,
                  "files that mtc run --log wrote; event files of TensorBoard, "
                  "of mtc run or another program, or folders with those of a "
                  "run")
      ->required();
  sub->add_option("--svg", command->svg, "file for a picture of lines");
  sub->add_option("--png", command->png, "file for a picture of pixels");
  sub->add_option("--x", request.x,
                  "key of the log for the horizontal axis, such as step, "
                  "tokens or time; default: step");
  sub->add_option("--y", request.keys,
                  "keys of the log, separated by commas, a panel for each; "
                  "default: loss,grad_norm,tokens_per_s")
      ->delimiter(',');
  sub->add_flag("--log-x", request.logX, "a logarithmic horizontal axis");
  sub->add_flag("--log-y", request.logY, "logarithmic vertical axes");
  addInteger(*sub, "--smooth", request.smooth, 1,
             "also the mean of so many lines, over pale curves; default: 1, "
             "which is none");
  sub->callback(
      [command, &action] { action = [command] { return runPlot(*command); }; });
}

} // namespace mtc::tool
