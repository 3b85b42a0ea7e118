//===- make_job.cpp - what is asked for, as the job of ranks --------------===//

#include "runtime/control/make_job.h"

#include "runtime/base/trace_time.h"
#include "runtime/device/cuda/gemm_table.h"
#include "runtime/train/param_groups.h"
#include "runtime/train/step_batches.h"

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
  bool isRange = options.traceToEnd || options.traceLast > 0;
  out.fromStart = isRange && options.traceStep == 0;
  out.first = options.traceStep > 0 ? options.traceStep
              : isRange             ? 1
                                    : recipe.steps;
  out.last = options.traceToEnd      ? recipe.steps
             : options.traceLast > 0 ? options.traceLast
                                     : out.first;
  if (out.last > recipe.steps || out.first > out.last)
    return {StatusCode::usage,
            fmt::format("{}: expected steps from 1 to {}, the last one, found "
                        "{} to {}; name others, or run more steps",
                        isRange ? "--profile-step-start and --profile-step-end"
                                : "--trace-step",
                        recipe.steps, out.first, out.last)};
  out.file = options.traceFile;
  out.origin = traceNow();
  return Status::okay();
}

/// What a recipe says in terms of a bundle: samples as steps, and groups.
Status fitRecipe(const Bundle &bundle, Recipe &recipe) {
  const Descriptor &program = bundle.stages[0].descriptor;
  std::vector<ParamGroup> groups;
  MTC_RETURN_IF_ERROR(parseGroups(recipe.groups, program.groups, groups));
  if (recipe.samples == 0)
    return Status::okay();
  StepCount count;
  MTC_RETURN_IF_ERROR(
      StepBatches::countSteps(recipe, program, recipe.samples, count));
  recipe.steps = count.steps;
  if (recipe.steps > 0)
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("samples: expected at least those of the first step, "
                      "found {}",
                      recipe.samples)};
}

/// GPUs exchange by NCCL, unless somebody chose a way through the host.
Status chooseGpus(const RunOptions &options, const Bundle &bundle, Job &job) {
  bool isForGpus = bundle.stages[0].descriptor.isForGpu();
  if (options.comm == CommKind::nccl && !isForGpus)
    return {StatusCode::usage,
            "--comm nccl: expected a bundle for GPUs, found one for the CPU; "
            "compile it with --target cuda:sm_90, or leave --comm out"};
  if (options.device && !isForGpus)
    return {StatusCode::usage,
            fmt::format("--device {}: expected a bundle for GPUs, found one "
                        "for the CPU; compile it with --target cuda:sm_90, or "
                        "leave --device out",
                        *options.device)};
  if (!options.gemmTable.empty() && !isForGpus)
    return {StatusCode::usage,
            fmt::format("--gemm-table {}: expected a bundle for GPUs, found "
                        "one for the CPU, whose plan names what computes its "
                        "products; give the table to `mtc compile`, or compile "
                        "with --target cuda:sm_90",
                        options.gemmTable)};
  if (!options.gemmTable.empty()) { // of GPU and library ranks look themselves
    cuda::GemmTable table;
    MTC_RETURN_IF_ERROR(cuda::readGemmTable(options.gemmTable, table));
  }
  job.gpu = options.device.value_or(-1);
  job.gemmTable = options.gemmTable;
  job.graphs = options.graphs;
  job.nccl = isForGpus && bundle.mesh.worldSize() > 1 &&
             options.comm.value_or(CommKind::nccl) == CommKind::nccl;
  return Status::okay();
}

} // namespace

Status makeJob(const RunOptions &options, const Bundle &bundle, Job &job) {
  job.plan = bundle.planHash;
  job.recipe = options.recipe;
  MTC_RETURN_IF_ERROR(chooseGpus(options, bundle, job));
  MTC_RETURN_IF_ERROR(fitRecipe(bundle, job.recipe));
  if (job.recipe.steps == 0 && options.dumps.empty() &&
      options.saveTo.empty() && options.checkpoints.empty() &&
      options.evalBatches == 0)
    return {StatusCode::usage,
            "expected steps >= 1, or something to do without training (--dump "
            "init or logits, --save, --eval), found steps 0"};
  if (options.evalBatches > 0)
    job.recipe.steps = 0; // an evaluation trains nothing
  for (const DumpRequest &request : options.dumps) {
    job.dumps.emplace_back();
    MTC_RETURN_IF_ERROR(orderDump(request, job.recipe, job.dumps.back()));
  }
  MTC_RETURN_IF_ERROR(orderTrace(options, job.recipe, job.trace));
  job.profile = {options.profileFolder, options.profileWarmUp};
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

} // namespace mtc::runtime
