//===- preparation.cpp - what is done once, before ranks start ------------===//

#include "runtime/control/preparation.h"

#include "runtime/base/cores.h"
#include "runtime/control/check_data.h"
#include "runtime/control/idle_options.h"
#include "runtime/control/run_header.h"
#include "runtime/control/sample_orders.h"
#include "runtime/control/say.h"
#include "runtime/control/team_environment.h"
#include "runtime/control/weights.h"

#include <fmt/format.h>

#include <unistd.h>

namespace mtc::runtime {

void ProgressFd::open(ProgressKind kind, Job &job) {
  bool terminal = isatty(STDERR_FILENO) == 1;
  if (kind == ProgressKind::none)
    return;
  fd_ = dup(STDERR_FILENO);
  job.progressFd = fd_;
  job.progressRewrites = kind == ProgressKind::bar ||
                         (kind == ProgressKind::automatic && terminal);
}

ProgressFd::~ProgressFd() {
  if (fd_ >= 0)
    close(fd_);
}

/// What the recipe says of the loss scale must have a meaning.
static Status checkLossScale(const Recipe &recipe, const Bundle &bundle) {
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

void sayTeamNote(const RunOptions &options, const Bundle &bundle) {
  const Descriptor &program = bundle.stages[0].descriptor;
  std::string note =
      teamNote(bundle.mesh.worldSize(), program.threads, usableCores());
  if (options.progress != ProgressKind::none && !program.isForGpu() &&
      !note.empty())
    say(note);
}

Status checkRanks(int64_t expected, const Bundle &bundle) {
  int64_t found = bundle.mesh.worldSize();
  if (expected == 0 || expected == found)
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("expected {} ranks, and the bundle is compiled for {}; "
                      "start as many, or compile for {}",
                      expected, found, expected)};
}

Status Preparation::begin(const RunOptions &options, CommKind comm,
                          const Bundle &bundle, const SignalWatch &signals,
                          Job &job) {
  MTC_RETURN_IF_ERROR(checkLossScale(job.recipe, bundle));
  MTC_RETURN_IF_ERROR(RunOutputs::check(options, job));
  if (!options.initFrom.empty())
    MTC_RETURN_IF_ERROR(checkWeights(options.initFrom, bundle));
  MTC_RETURN_IF_ERROR(checkpoints_.open(options, bundle, job));
  job.report.flops = bundle.flops;
  job.report.header = runHeader(comm, bundle, job);
  progress_.open(options.progress, job);
  MTC_RETURN_IF_ERROR(checkData(job, bundle, signals.stop()));
  if (comm != CommKind::mpi) // else ranks may be of many hosts
    sayTeamNote(options, bundle);
  for (const std::string &line : idleOptions({options, job, bundle, comm}))
    say(line);
  if (checkpoints_.loaded() && !job.evaluates())
    for (const std::string &warning :
         changedOrders(*checkpoints_.loaded(), job))
      say(warning);
  return Status::okay();
}

} // namespace mtc::runtime
