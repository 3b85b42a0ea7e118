//===- hosted_launcher.cpp - ranks over MPI without a launcher ------------===//

#include "runtime/control/hosted_launcher.h"

#include "runtime/control/bundle.h"
#include "runtime/control/child.h"
#include "runtime/control/environment.h"
#include "runtime/control/make_job.h"
#include "runtime/control/outcome.h"
#include "runtime/control/preparation.h"
#include "runtime/control/signals.h"
#include "runtime/rendezvous/connection.h"
#include "runtime/rendezvous/secret.h"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
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
      : options_(options), signals_(/*once=*/false) {}
  ~HostedLauncher() {
    if (listenFd_ >= 0)
      close(listenFd_);
  }

  Status run() {
    Bundle bundle;
    MTC_RETURN_IF_ERROR(
        openBundle(options_.bundle, ProgramForm::shared, bundle));
    MTC_RETURN_IF_ERROR(checkRanks(options_.ranks, bundle));
    Job job; // each rank makes its own; what is wrong with it is told once
    MTC_RETURN_IF_ERROR(makeJob(options_, bundle, job));
    children_ = std::vector<Child>(size_t(bundle.mesh.worldSize()));
    MTC_RETURN_IF_ERROR(listenAt("127.0.0.1", 0, listenFd_));
    MTC_RETURN_IF_ERROR(makeSecret(secret_));
    fcntl(listenFd_, F_SETFD, 0); // rank 0 inherits it
    for (int rank = 0; rank < bundle.mesh.worldSize(); ++rank)
      MTC_RETURN_IF_ERROR(startRank(rank, bundle.descriptor(rank)));
    close(listenFd_);
    listenFd_ = -1;
    while (anyRunning())
      turn();
    return summarize(failures_, signals_.count() > 0);
  }

private:
  Status startRank(int rank, const Descriptor &descriptor) {
    size_t world = children_.size();
    return children_[size_t(rank)].start(
        rank, "/proc/self/exe",
        environmentWith(
            {fmt::format("MTC_RANK={}", rank),
             fmt::format("MTC_WORLD_SIZE={}", world),
             fmt::format("MTC_LOCAL_RANK={}", rank),
             fmt::format("MTC_LOCAL_WORLD_SIZE={}", world),
             "MTC_MASTER_ADDR=127.0.0.1",
             fmt::format("MTC_MASTER_PORT={}", portOf(listenFd_)),
             fmt::format("MTC_LISTEN_FD={}", listenFd_),
             fmt::format("{}={}", kSecretVariable, secret_),
             fmt::format("OMP_NUM_THREADS={}", descriptor.threads)}),
        ownArguments());
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
    if (!failures_.empty() && Clock::now() > deadline_)
      killAll();
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
  SignalWatch signals_;
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
