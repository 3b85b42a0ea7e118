//===- threads_run.cpp - all ranks as threads of this process -------------===//

#include "runtime/comm/threads/threads_world.h"
#include "runtime/control/launcher.h"
#include "runtime/control/outcome.h"
#include "runtime/train/trainer.h"

#include <fmt/format.h>

#include <mutex>
#include <thread>

namespace mtc::runtime {
namespace {

class ThreadsRun {
public:
  ThreadsRun(const Bundle &bundle, const Job &job, bool strict,
             const SignalWatch &signals)
      : bundle_(bundle), job_(job), signals_(signals),
        world_(bundle.mesh, ThreadsOptions{strict}),
        arenas_(static_cast<size_t>(bundle.mesh.worldSize())) {}

  Status open() {
    for (const BundleProgram &stage : bundle_.stages) {
      programs_.emplace_back();
      MTC_RETURN_IF_ERROR(openSharedProgram(stage.path, programs_.back()));
      MTC_RETURN_IF_ERROR(prepareProcess(stage.descriptor));
    }
    for (int rank = 0; rank < bundle_.mesh.worldSize(); ++rank)
      MTC_RETURN_IF_ERROR(
          arenas_[rank].map(bundle_.descriptor(rank).arenas, rank));
    return Status::okay();
  }

  Status run() {
    std::vector<std::thread> threads;
    // All join before any runs, so that nobody waits for one that never comes.
    std::vector<std::unique_ptr<Communicator>> comms;
    for (int rank = 0; rank < bundle_.mesh.worldSize(); ++rank)
      comms.push_back(world_.join(rank, arenas_[rank].views()));
    for (int rank = 0; rank < bundle_.mesh.worldSize(); ++rank)
      threads.emplace_back([this, rank, &comms] {
        record(rank, runRank(rank, *comms[rank]));
        comms[rank]->finish();
      });
    for (std::thread &thread : threads)
      thread.join();
    return summarize(failures_, signals_.count() > 0);
  }

private:
  Status runRank(int rankNumber, Communicator &comm) {
    RankParts parts;
    parts.program = programs_[bundle_.mesh.coordinate(rankNumber, MTC_AXIS_PP)];
    parts.descriptor = bundle_.descriptor(rankNumber);
    parts.rank = rankNumber;
    parts.comm = &comm;
    parts.arenas = arenas_[rankNumber].views();
    std::unique_ptr<RankState> rank;
    MTC_RETURN_IF_ERROR(RankState::create(std::move(parts), rank));
    Trainer trainer(*rank, job_, {&signals_.stop(), nullptr});
    return trainer.run();
  }

  void record(int rank, Status status) {
    if (status.ok())
      return;
    world_.markDead(rank);
    std::lock_guard lock(mutex_);
    failures_.push_back({rank, std::move(status), false});
  }

  const Bundle &bundle_;
  const Job &job_;
  const SignalWatch &signals_;
  ThreadsWorld world_;
  std::vector<AnonymousArenas> arenas_;
  std::vector<Program> programs_;
  std::mutex mutex_;
  std::vector<RankOutcome> failures_;
};

} // namespace

Status runThreads(const Bundle &bundle, const Job &job, bool strict,
                  const SignalWatch &signals) {
  ThreadsRun run(bundle, job, strict, signals);
  MTC_RETURN_IF_ERROR(run.open());
  return run.run();
}

} // namespace mtc::runtime
