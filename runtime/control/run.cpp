//===- run.cpp - runs a compiled bundle -----------------------------------===//

#include "mtc/runtime/run.h"

#include "runtime/base/trace_time.h"
#include "runtime/control/check_data.h"
#include "runtime/control/launcher.h"
#include "runtime/control/restarts.h"
#include "runtime/control/run_checkpoints.h"
#include "runtime/control/run_header.h"
#include "runtime/control/run_outputs.h"
#include "runtime/control/weights.h"

#include <fmt/format.h>

#include <charconv>
#include <unistd.h>

namespace mtc::runtime {
namespace {

const char *const kDumpNames[] = {"init", "logits", "grads", "params"};

bool takesStep(DumpRequest::What what) {
  return what == DumpRequest::grads || what == DumpRequest::params;
}

Status orderDump(const DumpRequest &request, const Recipe &recipe,
                 DumpOrder &out) {
  out.what = kDumpNames[request.what];
  out.step = request.step;
  if (request.step == 0 && request.what == DumpRequest::grads)
    out.step = 1;
  if (request.step == 0 && request.what == DumpRequest::params)
    out.step = recipe.steps;
  if (out.step > recipe.steps)
    return {StatusCode::usage,
            fmt::format("--dump {}@{}: expected a step up to {}, the last one "
                        "(an evaluation trains nothing); name another one, or "
                        "run more steps",
                        out.what, out.step, recipe.steps)};
  std::string step = request.step > 0 ? fmt::format("@{}", request.step) : "";
  out.file = fmt::format("{}/{}{}.safetensors", request.folder, out.what, step);
  return Status::okay();
}

Status orderTrace(const RunOptions &options, const Recipe &recipe,
                  TraceOrder &out) {
  if (options.traceFile.empty())
    return Status::okay();
  if (recipe.steps == 0)
    return {StatusCode::usage,
            "--trace: expected a run that trains, whose step it is of, found "
            "none (an evaluation trains nothing); leave it out, or give "
            "--steps"};
  out.first = options.traceStep > 0 ? options.traceStep : recipe.steps;
  out.last = options.traceLast > 0 ? options.traceLast : out.first;
  if (out.last > recipe.steps || out.first > out.last)
    return {StatusCode::usage,
            fmt::format("{}: expected steps from 1 to {}, the last one, found "
                        "{} to {}; name others, or run more steps",
                        options.traceLast > 0
                            ? "--profile-step-start and --profile-step-end"
                            : "--trace-step",
                        recipe.steps, out.first, out.last)};
  out.file = options.traceFile;
  out.origin = traceNow();
  return Status::okay();
}

Status makeJob(const RunOptions &options, Job &job) {
  MTC_RETURN_IF_ERROR(checkRecipe(options.recipe));
  if (options.recipe.steps == 0 && options.dumps.empty() &&
      options.saveTo.empty() && options.checkpoints.empty() &&
      options.evalBatches == 0)
    return {StatusCode::usage,
            "expected steps >= 1, or something to do without training (--dump "
            "init or logits, --save, --eval), found steps 0"};
  job.recipe = options.recipe;
  if (options.evalBatches > 0)
    job.recipe.steps = 0; // an evaluation trains nothing
  for (const DumpRequest &request : options.dumps) {
    job.dumps.emplace_back();
    MTC_RETURN_IF_ERROR(orderDump(request, job.recipe, job.dumps.back()));
  }
  MTC_RETURN_IF_ERROR(orderTrace(options, job.recipe, job.trace));
  job.early = {options.exitInterval, 60 * options.exitMinutes};
  job.initFrom = options.initFrom;
  job.saveTo = options.saveTo;
  job.logFile = options.logFile;
  job.report.timing = options.timingLevel;
  job.report.megatron = options.megatronLines;
  job.report.interval = options.logInterval;
  job.report.events = options.tensorboardDir;
  job.report.peak = options.peakTflops;
  job.evalBatches = options.evalBatches;
  if (job.recipe.steps > 0) {
    job.evaluation.interval = job.recipe.eval_interval;
    job.evaluation.batches = job.recipe.eval_steps;
  }
  job.evalFirst = options.evalFirst;
  return Status::okay();
}

/// What the recipe says of the loss scale must have a meaning.
Status checkLossScale(const Recipe &recipe, const Bundle &bundle) {
  const Descriptor &program = bundle.stages[0].descriptor;
  if (recipe.loss_scale == 0 || program.scalesLoss())
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("loss_scale {}: expected a program in {}, whose loss is "
                      "scaled, found one in {}; leave it out, or compile with "
                      "--dtype {}",
                      recipe.loss_scale, kScaledDtype, program.dtype,
                      kScaledDtype)};
}

/// A descriptor of standard error for the progress line: ranks have a pipe
/// there. Closed by the destructor.
class ProgressFd {
public:
  ProgressFd(ProgressKind kind, Job &job) {
    bool terminal = isatty(STDERR_FILENO) == 1;
    if (kind == ProgressKind::none)
      return;
    fd_ = dup(STDERR_FILENO);
    job.progressFd = fd_;
    job.progressRewrites = kind == ProgressKind::bar ||
                           (kind == ProgressKind::automatic && terminal);
  }
  ProgressFd(const ProgressFd &) = delete;
  ProgressFd &operator=(const ProgressFd &) = delete;
  ~ProgressFd() {
    if (fd_ >= 0)
      close(fd_);
  }

private:
  int fd_ = -1;
};

} // namespace

Status parseDump(std::string_view spec, std::string folder, DumpRequest &out) {
  size_t at = spec.find('@');
  std::string_view name = spec.substr(0, at);
  for (int what = 0; what < 4; ++what) {
    if (name != kDumpNames[what])
      continue;
    DumpRequest request{static_cast<DumpRequest::What>(what), 0,
                        std::move(folder)};
    if (at != std::string_view::npos) {
      const char *end = spec.data() + spec.size();
      auto [rest, error] =
          std::from_chars(spec.data() + at + 1, end, request.step);
      if (error != std::errc() || rest != end || request.step < 1 ||
          !takesStep(request.what))
        break;
    }
    out = std::move(request);
    return Status::okay();
  }
  return {StatusCode::usage,
          fmt::format("dump '{}': expected init, logits, grads[@STEP] or "
                      "params[@STEP], STEP from 1",
                      spec)};
}

Status runBundle(const RunOptions &options) {
  Job job;
  MTC_RETURN_IF_ERROR(makeJob(options, job));
  bool threads = infoOf(options.comm).oneProcess;
  SignalWatch signals(/*once=*/threads);
  Bundle bundle;
  MTC_RETURN_IF_ERROR(openBundle(
      options.bundle, threads ? ProgramForm::shared : ProgramForm::executable,
      bundle));
  MTC_RETURN_IF_ERROR(checkLossScale(job.recipe, bundle));
  MTC_RETURN_IF_ERROR(RunOutputs::check(options, job));
  if (!options.initFrom.empty())
    MTC_RETURN_IF_ERROR(checkWeights(options.initFrom, bundle));
  RunCheckpoints checkpoints;
  MTC_RETURN_IF_ERROR(checkpoints.open(options, bundle, job));
  job.report.flops = bundle.flops;
  ProgressFd progress(options.progress, job);
  MTC_RETURN_IF_ERROR(checkData(job, bundle, signals.stop()));
  RunOutputs outputs;
  MTC_RETURN_IF_ERROR(outputs.open(options, job));
  LaunchOrder order{options.timeout, options.strict, options.flight};
  if (order.flight.empty() && !options.checkpoints.empty())
    order.flight = options.checkpoints + "/flight";
  job.report.header = runHeader(options, bundle, job);
  if (threads)
    return runThreads(bundle, job, order, signals);
  Restarts restarts(options.maxRestarts, signals);
  for (;;) {
    Status status = launchProcesses(bundle, job, order, signals);
    if (!restarts.mayFollow(status))
      return status;
    bool again = false;
    MTC_RETURN_IF_ERROR(
        restarts.prepare(status, checkpoints, outputs, job, again));
    if (!again)
      return status;
    job.report.header = runHeader(options, bundle, job); // behind another step
  }
}

} // namespace mtc::runtime
