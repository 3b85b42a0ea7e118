//===- run.cpp - runs a compiled bundle -----------------------------------===//

#include "mtc/runtime/run.h"

#include "runtime/base/trace_time.h"
#include "runtime/control/flight_files.h"
#include "runtime/control/hosted_launcher.h"
#include "runtime/control/hosted_rank.h"
#include "runtime/control/hosted_restart.h"
#include "runtime/control/launcher.h"
#include "runtime/control/preparation.h"
#include "runtime/control/restarts.h"
#include "runtime/control/run_header.h"

#include <fmt/format.h>

#include <charconv>

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

/// How the ranks of a run talk, when nobody said it: over MPI, where somebody
/// started a process for each.
static Status chooseComm(const RunOptions &options, const LaunchPlace &place,
                         CommKind &out) {
  bool many = place.launched() && place.world > 1;
  out = options.comm.value_or(many ? CommKind::mpi : kComms[0].id);
  if (out == CommKind::mpi && options.maxRestarts > 0 && place.launched() &&
      !isHosted())
    return {StatusCode::usage,
            fmt::format("--max-restarts: expected `mtc run -n {}`, which "
                        "starts its own ranks again, found ranks that {} "
                        "started; let that start the run again, with --resume",
                        place.world, place.family)};
  if (!many || out == CommKind::mpi)
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("--comm {}: {} started this as rank {} of {}, and ranks "
                      "of several processes talk by mpi; leave --comm out, or "
                      "start one process",
                      infoOf(out).name, place.family, place.rank, place.world)};
}

Status runBundle(const RunOptions &given) {
  Job job;
  RunOptions options = given;
  HostedRestart restart;
  MTC_RETURN_IF_ERROR(HostedRestart::find(restart));
  restart.change(options);
  MTC_RETURN_IF_ERROR(makeJob(options, job));
  LaunchPlace place;
  MTC_RETURN_IF_ERROR(findPlace({options.rank, options.world, options.master},
                                processEnvironment(), place));
  CommKind comm{};
  MTC_RETURN_IF_ERROR(chooseComm(options, place, comm));
  if (comm == CommKind::mpi)
    return place.launched() ? runHostedRank(options, place, job)
                            : launchHostedRanks(options, job);
  bool threads = infoOf(comm).oneProcess;
  SignalWatch signals(/*once=*/threads);
  Bundle bundle;
  MTC_RETURN_IF_ERROR(openBundle(
      options.bundle, threads ? ProgramForm::shared : ProgramForm::executable,
      bundle));
  MTC_RETURN_IF_ERROR(checkRanks(options.ranks, bundle));
  Preparation preparation;
  MTC_RETURN_IF_ERROR(preparation.begin(options, comm, bundle, signals, job));
  MTC_RETURN_IF_ERROR(preparation.outputs().open(options, job));
  LaunchOrder order{options.timeout, options.strict, flightFolder(options)};
  if (threads)
    return runThreads(bundle, job, order, signals);
  Restarts restarts(options.maxRestarts, signals);
  for (;;) {
    Status status = launchProcesses(bundle, job, order, signals);
    if (!restarts.mayFollow(status))
      return status;
    bool again = false;
    MTC_RETURN_IF_ERROR(restarts.prepare(status, preparation.checkpoints(),
                                         preparation.outputs(), job, again));
    if (!again)
      return status;
    job.report.header = runHeader(comm, bundle, job); // behind another step
  }
}

} // namespace mtc::runtime
