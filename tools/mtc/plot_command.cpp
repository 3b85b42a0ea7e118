//===- plot_command.cpp - mtc plot ----------------------------------------===//

#include "runtime/base/file.h"
#include "runtime/base/messages.h"
#include "tools/mtc/commands.h"
#include "tools/mtc/numbers.h"
#include "tools/mtc/picture.h"
#include "tools/plot/plot.h"

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <memory>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::tool {
namespace {

struct PlotCommand {
  std::vector<std::string> logs;
  plot::PlotRequest request;
  std::string svg, png;
};

Status checkOutputs(const PlotCommand &command) {
  if (command.svg.empty() && command.png.empty())
    return {StatusCode::usage,
            "plot: expected --svg FILE or --png FILE, found neither"};
  std::vector<runtime::NamedFile> inputs;
  for (const std::string &log : command.logs)
    inputs.push_back({"a log", log});
  MTC_RETURN_IF_ERROR(checkPicture(command.svg, inputs));
  if (!command.svg.empty())
    inputs.push_back({"--svg", command.svg});
  return checkPicture(command.png, inputs, "--png");
}

Status readLogs(const PlotCommand &command, std::vector<plot::Run> &runs) {
  for (const std::string &log : command.logs) {
    std::string text;
    MTC_RETURN_IF_ERROR(runtime::readWholeFile(log, text));
    MTC_RETURN_IF_ERROR(plot::readRuns(text, runtime::printable(log), runs));
  }
  return Status::okay();
}

Status runPlot(const PlotCommand &command) {
  MTC_RETURN_IF_ERROR(checkOutputs(command));
  std::vector<plot::Run> runs;
  MTC_RETURN_IF_ERROR(readLogs(command, runs));
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
  CLI::App *sub =
      app.add_subcommand("plot", "draws curves of runs from their logs");
  sub->footer("examples:\n"
              "  mtc plot run.jsonl --svg run.svg\n"
              "  mtc plot a.jsonl b.jsonl --y loss --x tokens --log-y --png "
              "both.png");
  sub->add_option("logs", command->logs, "files that mtc run --log wrote")
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
