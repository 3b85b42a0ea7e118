//===- launcher.cpp - one process per rank --------------------------------===//

#include "runtime/control/launcher.h"

#include "runtime/base/cores.h"
#include "runtime/base/step_gate.h"
#include "runtime/comm/shm/shm_setup.h"
#include "runtime/control/child.h"
#include "runtime/control/environment.h"
#include "runtime/control/flight_files.h"
#include "runtime/control/rank_process.h"
#include "runtime/control/team_environment.h"
#include "runtime/control/watchdog.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

namespace mtc::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// How long ranks may take to notice that another one died.
constexpr std::chrono::seconds kGrace{2};
/// How many seconds all ranks may take to end once one has given up: a library
/// may hold each of them, as one of GPUs whose partner is gone. Long enough for
/// a checkpoint that is written meanwhile. MTC_ABORT_GRACE is another number,
/// for tests.
double abortGrace() {
  constexpr double kUsual = 60;
  const char *text = std::getenv("MTC_ABORT_GRACE");
  double asked = text ? std::strtod(text, nullptr) : 0;
  return asked > 0 ? asked : kUsual;
}

/// A death is seen at once by the end of its pipe; this is for a pipe which a
/// grandchild holds open.
constexpr int kPollMilliseconds = 100;

/// The job in memory that children inherit by descriptor.
Status shareJob(const Job &job, int &fd) {
  std::string text = packJob(job);
  fd = memfd_create("mtc:job", 0);
  if (fd >= 0 &&
      write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()))
    return Status::okay();
  return {StatusCode::failed,
          fmt::format("cannot share the job: {}", std::strerror(errno))};
}

class Launcher {
public:
  Launcher(const Bundle &bundle, const Job &job, const LaunchOrder &order,
           const SignalWatch &signals)
      : bundle_(bundle), order_(order), signals_(signals),
        watchdog_(order.timeout, job.passes()),
        saves_(!job.checkpoints.place.root.empty()),
        children_(static_cast<size_t>(bundle.mesh.worldSize())) {}
  ~Launcher() {
    if (jobFd_ >= 0)
      close(jobFd_);
  }

  Status start(const Job &job) {
    MTC_RETURN_IF_ERROR(createMemory());
    MTC_RETURN_IF_ERROR(
        FlightMemory::create(bundle_.mesh.worldSize(), flight_));
    MTC_RETURN_IF_ERROR(shareJob(job, jobFd_));
    for (int rank = 0; rank < bundle_.mesh.worldSize(); ++rank)
      MTC_RETURN_IF_ERROR(startRank(rank));
    return Status::okay();
  }

  Status wait() {
    while (anyRunning()) {
      poll();
      obeySignals();
      if (allBegan())
        order_.loaded();
      for (size_t rank = 0; rank < children_.size(); ++rank)
        reap(static_cast<int>(rank));
      killLate();
      killStuck();
      killHung();
    }
    Status status =
        hang_.ok() ? summarize(failures_, signals_.count() > 0) : hang_;
    if (!isForRecords(status))
      return status;
    // Of a hang they were taken before its ranks were killed.
    if (!hang_.ok())
      return withRecords(status, std::move(records_), {}, order_.flight);
    return withRecords(status, takeRecords(flight_, bundle_), failures_,
                       order_.flight);
  }

private:
  /// A rank that is alone shares nothing: it maps arenas of its own, which have
  /// huge pages, as memory of several processes has on few hosts.
  Status createMemory() {
    std::vector<ArenaSizes> sizes;
    int64_t posted = 0;
    bool isAlone = bundle_.mesh.worldSize() == 1;
    for (int rank = 0; rank < bundle_.mesh.worldSize(); ++rank) {
      sizes.push_back(isAlone ? ArenaSizes{} : bundle_.descriptor(rank).arenas);
      posted = std::max(posted, bundle_.descriptor(rank).posted);
    }
    return ShmSetup::create(bundle_.mesh, sizes, posted, memory_);
  }

  Status startRank(int rank) {
    const BundleProgram &program =
        bundle_.stages[bundle_.mesh.coordinate(rank, MTC_AXIS_PP)];
    int64_t threads = program.descriptor.threads;
    std::vector<std::string> variables = teamVariables(
        threads, threads * bundle_.mesh.worldSize(), usableCores());
    variables.insert(variables.end(),
                     {memory_->environment(), flight_.environment(),
                      fmt::format("{}={}", kRankVariable, rank),
                      fmt::format("{}={}", kJobVariable, jobFd_)});
    return children_[rank].start(rank, program.path,
                                 environmentWith(variables));
  }

  bool anyRunning() const {
    for (const Child &child : children_)
      if (child.running())
        return true;
    return false;
  }

  /// A step: then each has all that it begins with.
  bool allBegan() const {
    for (int rank = 0; rank < static_cast<int>(children_.size()); ++rank)
      if (memory_->state(rank, kStepWord).load() == 0)
        return false;
    return true;
  }

  void poll() {
    fds_.clear();
    for (const Child &child : children_)
      fds_.push_back({child.pipe(), POLLIN, 0}); // -1 is skipped
    ::poll(fds_.data(), fds_.size(), kPollMilliseconds);
    for (size_t i = 0; i < fds_.size(); ++i)
      if (fds_[i].revents)
        children_[i].forward();
  }

  void obeySignals() {
    if (int saves = signals_.saves().load(); saves != savesSeen_) {
      savesSeen_ = saves;
      if (saves_)
        gate().askToSave();
      else
        std::fputs("warning: SIGUSR1: nothing is written, as the run has no "
                   "--checkpoints DIR\n",
                   stderr);
    }
    int count = signals_.count();
    if (count == signalsSeen_)
      return;
    signalsSeen_ = count;
    gate().close();
    if (count < 2)
      return;
    stopped_ = true;
    for (const Child &child : children_)
      child.signal(SIGKILL);
  }

  StepGate gate() {
    return StepGate(memory_->state(kGateRank, kGateWord),
                    memory_->state(kGateRank, kSaveWord));
  }

  void reap(int rank) {
    std::optional<RankOutcome> outcome = children_[rank].reap();
    if (!outcome || outcome->status.ok())
      return;
    bool ours = outcome->killed && stopped_;
    if (outcome->killed && !ours)
      outcome->when = when(rank);
    outcome->killed = outcome->killed && !ours;
    failures_.push_back(*outcome);
    memory_->markDead(rank);
    if (failures_.size() == 1)
      deadline_ = Clock::now() + kGrace;
  }

  /// " in step 7, in fragment B (row 3)", once training has begun.
  std::string when(int rank) {
    int64_t step = memory_->state(rank, kStepWord).load();
    if (step == 0)
      return "";
    return fmt::format(
        " in step {}, {}", step,
        doingOf(recordOf(*flight_.ring(rank), bundle_.descriptor(rank), rank)));
  }

  void killLate() {
    if (failures_.empty() || stopped_ || Clock::now() < deadline_)
      return;
    stopped_ = true; // from here on a death by signal is our doing
    for (const Child &child : children_)
      child.signal(SIGKILL);
  }

  void killHung() {
    if (stopped_ || !failures_.empty())
      return;
    std::vector<RankProgress> ranks;
    for (int rank = 0; rank < static_cast<int>(children_.size()); ++rank)
      ranks.push_back({children_[static_cast<size_t>(rank)].pid(),
                       memory_->state(rank, kStepWord).load(),
                       memory_->state(rank, kBeatWord).load()});
    if (Status hang = watchdog_.look(ranks, gate().closed()); !hang.ok())
      giveUp(std::move(hang));
  }

  /// One has given up, and no process ends: not even its own.
  void killStuck() {
    if (stopped_ || !failures_.empty() || !memory_->aborted())
      return;
    if (!abortSeen_)
      abortSeen_ = Clock::now();
    const double grace = abortGrace();
    if (Clock::now() - *abortSeen_ >= std::chrono::duration<double>(grace))
      giveUp(
          {StatusCode::hang,
           fmt::format("{}, and {} s later no rank has ended: all are killed",
                       memory_->abortStatus().message(), grace)});
  }

  void giveUp(Status why) {
    hang_ = std::move(why);
    stopped_ = true;
    noteHang();
    for (const Child &child : children_)
      child.signal(SIGKILL);
  }

  /// What ranks do, while they still do it.
  void noteHang() {
    records_ = takeRecords(flight_, bundle_);
    for (FlightRecord &record : records_)
      record.stopped = isStopped(children_[record.rank].pid());
    hang_ = {hang_.code(), hang_.message() + verdictText(records_)};
  }

  const Bundle &bundle_;
  const LaunchOrder &order_;
  const SignalWatch &signals_;
  Watchdog watchdog_;
  bool saves_; ///< the run writes checkpoints
  Status hang_;
  std::unique_ptr<ShmSetup> memory_;
  FlightMemory flight_;
  std::vector<FlightRecord> records_;
  int jobFd_ = -1;
  std::vector<Child> children_;
  std::vector<pollfd> fds_;
  std::vector<RankOutcome> failures_;
  Clock::time_point deadline_{};
  std::optional<Clock::time_point> abortSeen_;
  int signalsSeen_ = 0, savesSeen_ = 0;
  bool stopped_ = false;
};

} // namespace

Status launchProcesses(const Bundle &bundle, const Job &job,
                       const LaunchOrder &order, const SignalWatch &signals) {
  Launcher launcher(bundle, job, order, signals);
  MTC_RETURN_IF_ERROR(launcher.start(job));
  return launcher.wait();
}

} // namespace mtc::runtime
