//===- threads_run.cpp - all ranks as threads of this process -------------===//

#include "runtime/control/flight_files.h"
#include "runtime/control/launcher.h"
#include "runtime/control/outcome.h"
#include "runtime/control/seat.h"

#include <fmt/format.h>

#include <mutex>
#include <thread>

namespace mtc::runtime {
namespace {

/// Shared objects of programs take their device from this process.
[[gnu::used]] const MtcDeviceFactory *const kDevicesOfPrograms[] = {
    &mtc_cuda_device};

class ThreadsRun {
public:
  ThreadsRun(const Bundle &bundle, const Job &job, const LaunchOrder &order,
             const SignalWatch &signals)
      : bundle_(bundle), job_(job), order_(order), signals_(signals),
        seats_(static_cast<size_t>(bundle.mesh.worldSize())) {}

  Status open() {
    for (const BundleProgram &stage : bundle_.stages) {
      programs_.emplace_back();
      MTC_RETURN_IF_ERROR(openStage(stage.path, job_, programs_.back()));
    }
    MTC_RETURN_IF_ERROR(
        FlightMemory::create(bundle_.mesh.worldSize(), flight_));
    // All join before any runs, so that nobody waits for one that never comes.
    MTC_RETURN_IF_ERROR(
        makeWorld(CommKind::threads, {bundle_.mesh, order_.strict}, world_));
    for (int rank = 0; rank < bundle_.mesh.worldSize(); ++rank)
      MTC_RETURN_IF_ERROR(takeSeat(
          *world_, {rank, rank}, programOf(rank), bundle_.descriptor(rank),
          job_, flight_.ring(rank), seats_[static_cast<size_t>(rank)]));
    return Status::okay();
  }

  Status run() {
    std::vector<std::thread> threads;
    for (Seat &seat : seats_)
      threads.emplace_back([this, &seat] {
        record(seat, runRank(seat));
        seat.comm->finish();
      });
    for (std::thread &thread : threads)
      thread.join();
    Status status = summarize(failures_, signals_.count() > 0);
    if (!isForRecords(status))
      return status;
    return withRecords(status, takeRecords(flight_, bundle_), failures_,
                       order_.flight);
  }

private:
  const Program &programOf(int rank) const {
    return programs_[bundle_.mesh.coordinate(rank, MTC_AXIS_PP)];
  }

  Status runRank(Seat &seat) {
    return runSeat(
        seat, programOf(seat.rank), bundle_.descriptor(seat.rank), job_,
        {signals_.stop(), world_->gate(),
         seat.rank == 0 ? &signals_.saves() : nullptr, world_->step(seat.rank),
         world_->beats(seat.rank), seat.rank == 0 ? order_.loaded : nullptr});
  }

  void record(Seat &seat, Status status) {
    if (status.ok())
      return;
    seat.comm->abort(); // nobody may wait for this rank
    std::lock_guard lock(mutex_);
    failures_.push_back({seat.rank, std::move(status), false});
  }

  const Bundle &bundle_;
  const Job &job_;
  const LaunchOrder &order_;
  const SignalWatch &signals_;
  std::vector<Program> programs_;
  FlightMemory flight_;          ///< outlives the seats
  std::unique_ptr<World> world_; ///< outlives the seats
  std::vector<Seat> seats_;
  std::mutex mutex_;
  std::vector<RankOutcome> failures_;
};

} // namespace

Status runThreads(const Bundle &bundle, const Job &job,
                  const LaunchOrder &order, const SignalWatch &signals) {
  ThreadsRun run(bundle, job, order, signals);
  MTC_RETURN_IF_ERROR(run.open());
  return run.run();
}

} // namespace mtc::runtime
