//===- run.cpp - runs a compiled bundle -----------------------------------===//

#include "mtc/runtime/run.h"

#include "runtime/control/flight_files.h"
#include "runtime/control/hosted_launcher.h"
#include "runtime/control/hosted_rank.h"
#include "runtime/control/hosted_restart.h"
#include "runtime/control/launcher.h"
#include "runtime/control/make_job.h"
#include "runtime/control/past_orders.h"
#include "runtime/control/preparation.h"
#include "runtime/control/restarts.h"
#include "runtime/control/run_header.h"

#include <fmt/format.h>

namespace mtc::runtime {

/// How the processes of a run talk, when nobody said it: over MPI, where
/// somebody started one for each rank. Under nccl so do GPUs' processes.
static Status chooseComm(const RunOptions &options, const LaunchPlace &place,
                         CommKind &out) {
  bool many = place.launched() && place.world > 1;
  out = options.comm.value_or(CommKind::nccl);
  if (out == CommKind::nccl)
    out = many ? CommKind::mpi : kComms[0].id;
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

Status runBundle(const RunOptions &options) {
  MTC_RETURN_IF_ERROR(checkRecipe(options.recipe));
  LaunchPlace place;
  MTC_RETURN_IF_ERROR(findPlace({options.rank, options.world, options.master},
                                processEnvironment(), place));
  CommKind comm{};
  MTC_RETURN_IF_ERROR(chooseComm(options, place, comm));
  if (comm == CommKind::mpi)
    return place.launched() ? runHostedRank(options, place)
                            : launchHostedRanks(options);
  bool threads = infoOf(comm).oneProcess;
  SignalWatch signals(/*once=*/threads);
  if (options.endsProcess)
    signals.keep();
  Bundle bundle;
  MTC_RETURN_IF_ERROR(openBundle(
      options.bundle, threads ? ProgramForm::shared : ProgramForm::executable,
      bundle));
  MTC_RETURN_IF_ERROR(checkRanks(options.ranks, bundle));
  Job job;
  MTC_RETURN_IF_ERROR(makeJob(options, bundle, job));
  if (job.nccl && job.gpu >= 0)
    return {StatusCode::usage,
            fmt::format("--device {}: expected a GPU for each of {} ranks, as "
                        "NCCL wants them; leave --device out, or exchange by "
                        "--comm shm",
                        job.gpu, bundle.mesh.worldSize())};
  Preparation preparation;
  MTC_RETURN_IF_ERROR(preparation.begin(options, comm, bundle, signals, job));
  MTC_RETURN_IF_ERROR(preparation.outputs().open(options, job));
  LaunchOrder order{options.timeout, options.strict, flightFolder(options),
                    [&] { preparation.checkpoints().letGo(); }};
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
    MTC_RETURN_IF_ERROR(checkBundle(options.bundle, job.plan));
    int64_t step = job.checkpoints.start.step;
    sayLeftOut(leaveOutPast(job, step), step);
    job.report.header = runHeader(comm, bundle, job); // behind another step
  }
}

} // namespace mtc::runtime
