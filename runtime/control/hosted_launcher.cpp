//===- hosted_launcher.cpp - ranks over MPI without a launcher ------------===//

#include "runtime/control/hosted_launcher.h"

#include "runtime/base/cores.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/control/bundle.h"
#include "runtime/control/child.h"
#include "runtime/control/environment.h"
#include "runtime/control/flight_files.h"
#include "runtime/control/hosted_restart.h"
#include "runtime/control/make_job.h"
#include "runtime/control/mpi_start.h"
#include "runtime/control/outcome.h"
#include "runtime/control/preparation.h"
#include "runtime/control/restarts.h"
#include "runtime/control/signals.h"
#include "runtime/control/team_environment.h"
#include "runtime/control/watchdog.h"
#include "runtime/rendezvous/connection.h"
#include "runtime/rendezvous/secret.h"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <unistd.h>

namespace mtc::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// Ranks learn of a death by themselves; this is for those that cannot.
constexpr std::chrono::seconds kEndTime{5};
constexpr int kLookMilliseconds = 100;

/// What this process was started with, behind its name.
std::vector<std::string> ownArguments() {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> all;
  for (std::string argument; std::getline(file, argument, '\0');)
    all.push_back(argument);
  if (!all.empty())
    all.erase(all.begin());
  return all;
}

class HostedLauncher {
public:
  explicit HostedLauncher(const RunOptions &options)
      : options_(options), signals_(/*once=*/false) {
    if (options.endsProcess)
      signals_.keep();
  }
  ~HostedLauncher() { closeListening(); }

  Status run() {
    Bundle bundle;
    MTC_RETURN_IF_ERROR(
        openBundle(options_.bundle, ProgramForm::shared, bundle));
    MTC_RETURN_IF_ERROR(checkRanks(options_.ranks, bundle));
    MTC_RETURN_IF_ERROR(makeJob(options_, bundle, job_));
    sayTeamNote(options_, bundle);
    noteBeginning();
    Restarts restarts(options_.maxRestarts, signals_);
    RunCheckpoints checkpoints;
    RunOutputs outputs;
    for (;;) {
      MTC_RETURN_IF_ERROR(start(bundle));
      while (anyRunning())
        turn();
      Status status = ended();
      if (!restarts.mayFollow(status))
        return status;
      MTC_RETURN_IF_ERROR(
          restarts.prepare(status, checkpoints, outputs, job_, restart_.again));
      if (!restart_.again)
        return status;
      restart_.step = job_.checkpoints.start.step;
      MTC_RETURN_IF_ERROR(checkBundle(options_.bundle, job_.plan));
    }
  }

private:
  /// What restarts are measured by. The folder of checkpoints is rank 0's
  /// alone while ranks run.
  void noteBeginning() {
    began_ = Clock::now();
    job_.checkpoints.place.root = options_.checkpoints;
    std::error_code none;
    if (std::vector<int64_t> steps;
        options_.resume && listSteps(options_.checkpoints, steps).ok() &&
        !steps.empty())
      job_.checkpoints.start.step = steps.back();
    if (options_.appendLog)
      restart_.logBytes =
          int64_t(std::filesystem::file_size(options_.logFile, none));
    if (none)
      restart_.logBytes = 0; // there is no log yet
  }

  Status start(const Bundle &bundle) {
    failures_.clear();
    stopped_ = false;
    children_ = std::vector<Child>(size_t(bundle.mesh.worldSize()));
    MTC_RETURN_IF_ERROR(listenAt("127.0.0.1", 0, listenFd_));
    MTC_RETURN_IF_ERROR(makeSecret(secret_));
    fcntl(listenFd_, F_SETFD, 0); // rank 0 inherits it
    restart_.seconds =
        std::chrono::duration<double>(Clock::now() - began_).count();
    for (int rank = 0; rank < bundle.mesh.worldSize(); ++rank)
      MTC_RETURN_IF_ERROR(startRank(rank, bundle.descriptor(rank)));
    closeListening();
    return Status::okay();
  }

  void closeListening() {
    if (listenFd_ >= 0)
      close(listenFd_);
    listenFd_ = -1;
  }

  Status ended() const {
    // Of a hang all ranks say the same; rank 0 may say more.
    const RankOutcome *hang = nullptr;
    for (const RankOutcome &outcome : failures_)
      if (outcome.status.code() == StatusCode::hang &&
          (!hang || outcome.rank < hang->rank))
        hang = &outcome;
    if (hang)
      return hang->status;
    Status status = summarize(failures_, signals_.count() > 0);
    // What a rank says of itself has it, if there are records.
    const RankOutcome *culprit = culpritOf(failures_);
    return isForRecords(status) && culprit && !culprit->told
               ? whereRecordsAre(status, flightFolder(options_))
               : status;
  }

  Status startRank(int rank, const Descriptor &descriptor) {
    size_t world = children_.size();
    std::vector<std::string> variables{
        fmt::format("MTC_RANK={}", rank),
        fmt::format("MTC_WORLD_SIZE={}", world),
        fmt::format("MTC_LOCAL_RANK={}", rank),
        fmt::format("{}={}", kPlanVariable, job_.plan),
        fmt::format("MTC_LOCAL_WORLD_SIZE={}", world),
        "MTC_MASTER_ADDR=127.0.0.1",
        fmt::format("MTC_MASTER_PORT={}", portOf(listenFd_)),
        fmt::format("{}={}", kListenVariable, listenFd_),
        fmt::format("{}={}", kSecretVariable, secret_)};
    for (std::string &variable : teamVariables(
             descriptor.threads,
             descriptor.threads * static_cast<int64_t>(world), usableCores()))
      variables.push_back(std::move(variable));
    if (restart_.again)
      variables.push_back(restart_.environment());
    return children_[size_t(rank)].start(
        rank, "/proc/self/exe", environmentWith(variables), ownArguments());
  }

  bool anyRunning() const {
    for (const Child &child : children_)
      if (child.running())
        return true;
    return false;
  }

  void turn() {
    std::vector<pollfd> fds;
    for (const Child &child : children_)
      fds.push_back({child.pipe(), POLLIN, 0}); // -1 is skipped
    poll(fds.data(), fds.size(), kLookMilliseconds);
    for (size_t i = 0; i < fds.size(); ++i)
      if (fds[i].revents)
        children_[i].forward();
    passSignals();
    for (Child &child : children_)
      if (std::optional<RankOutcome> outcome = child.reap();
          outcome && !outcome->status.ok()) {
        outcome->killed = outcome->killed && !stopped_;
        failures_.push_back(*outcome);
        if (failures_.size() == 1)
          deadline_ = Clock::now() + kEndTime;
      }
    if (!failures_.empty())
      killStopped();
    if (!failures_.empty() && Clock::now() > deadline_)
      killAll();
  }

  /// The job has failed, and these would not hear of it.
  void killStopped() {
    for (const Child &child : children_)
      if (isStopped(child.pid())) {
        stopped_ = true; // from here on a death by signal is our doing
        child.signal(SIGKILL);
      }
  }

  void passSignals() {
    if (signals_.saves() != saves_)
      for (const Child &child : children_)
        child.signal(SIGUSR1);
    saves_ = signals_.saves();
    int count = signals_.count();
    if (count != stops_ && count > 1)
      killAll();
    else if (count != stops_)
      for (const Child &child : children_)
        child.signal(SIGTERM);
    stops_ = count;
  }

  void killAll() {
    stopped_ = true; // from here on a death by signal is our doing
    for (const Child &child : children_)
      child.signal(SIGKILL);
  }

  const RunOptions &options_;
  Job job_; ///< each rank makes its own; what is wrong with it is told once
  SignalWatch signals_;
  Clock::time_point began_{};
  HostedRestart restart_;
  int listenFd_ = -1;
  std::string secret_; ///< of this run
  std::vector<Child> children_;
  std::vector<RankOutcome> failures_;
  Clock::time_point deadline_{};
  int stops_ = 0, saves_ = 0;
  bool stopped_ = false;
};

} // namespace

Status launchHostedRanks(const RunOptions &options) {
  return HostedLauncher(options).run();
}

} // namespace mtc::runtime
