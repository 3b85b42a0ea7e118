//===- hosted_rank.cpp - one rank of a job of many processes --------------===//

#include "runtime/control/hosted_rank.h"

#include "runtime/base/abort_watch.h"
#include "runtime/base/digest.h"
#include "runtime/base/file.h"
#include "runtime/base/wall_time.h"
#include "runtime/comm/mpi/mpi_world.h"
#include "runtime/control/flight_files.h"
#include "runtime/control/host_flight.h"
#include "runtime/control/hosted_restart.h"
#include "runtime/control/hosted_watch.h"
#include "runtime/control/make_job.h"
#include "runtime/control/mpi_start.h"
#include "runtime/control/outcome.h"
#include "runtime/control/preparation.h"
#include "runtime/control/seat.h"
#include "runtime/rendezvous/channel.h"
#include "runtime/rendezvous/failure.h"
#include "runtime/rendezvous/frame.h"
#include "runtime/rendezvous/secret.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <thread>
#include <unistd.h>
#include <utility>

namespace mtc::runtime {
namespace {

/// A library that aborts because a peer died may know it before the control
/// channel does. That hears it at once, by the end of a connection.
constexpr std::chrono::seconds kVerdictTime{2};

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(int64_t(seconds * 1000));
}

class HostedRank {
public:
  HostedRank(const RunOptions &options, const LaunchPlace &place)
      : options_(options), place_(place), signals_(/*once=*/false),
        mpi_(options_, place) {
    if (options.endsProcess)
      signals_.keep();
  }

  Status run() {
    MTC_RETURN_IF_ERROR(HostedRestart::find(restart_));
    restart_.change(options_);
    MTC_RETURN_IF_ERROR(mpi_.begin({milliseconds(options_.meetTimeout), [this] {
                                      return signals_.stop().load();
                                    }}));
    MTC_RETURN_IF_ERROR(
        openBundle(options_.bundle, ProgramForm::shared, bundle_));
    if (const char *plan = std::getenv(kPlanVariable); plan && isHosted())
      MTC_RETURN_IF_ERROR(checkPlan(bundle_.planHash, plan));
    MTC_RETURN_IF_ERROR(checkRanks(options_.ranks, bundle_));
    if (bundle_.mesh.worldSize() != place_.world)
      return {
          StatusCode::usage,
          fmt::format("{} started {} ranks, and the bundle '{}' is compiled "
                      "for {}; start as many, or compile for {}",
                      place_.family, place_.world, options_.bundle,
                      bundle_.mesh.worldSize(), place_.world)};
    MTC_RETURN_IF_ERROR(makeJob(options_, bundle_, job_));
    restart_.change(job_);
    MTC_RETURN_IF_ERROR(meet());
    aborts_.emplace([this] { return whyAborted(); });
    Status status = begin();
    if (status.ok())
      status = train();
    return end(std::move(status));
  }

private:
  Status meet() {
    std::string manifest;
    MTC_RETURN_IF_ERROR(
        readWholeFile(options_.bundle + "/manifest.json", manifest));
    Member self{place_.rank, place_.world, bundle_.planHash, digestOf(manifest),
                hostName()};
    MeetOptions meeting;
    meeting.timeout = milliseconds(options_.meetTimeout);
    meeting.stop = &signals_.stop();
    MTC_RETURN_IF_ERROR(findSecret(meeting.secret));
    MTC_RETURN_IF_ERROR(mpi_.before(meeting));
    Heartbeats heartbeats;
    heartbeats.patience = milliseconds(options_.heartbeatTimeout);
    return ControlChannel::open(self, meeting, heartbeats, channel_);
  }

  /// Of rank 0: what the job is, or why there is none.
  Status prepare() {
    MTC_RETURN_IF_ERROR(
        preparation_.begin(options_, CommKind::mpi, bundle_, signals_, job_));
    return preparation_.outputs().openShared(job_);
  }

  Status shareJob() {
    std::string said;
    if (place_.rank == 0) {
      Status prepared = prepare();
      int progress = std::exchange(job_.progressFd, -1); // of this process
      said = PayloadWriter()
                 .text(packOutcome(prepared))
                 .text(packJob(job_))
                 .text(flightFolder(options_))
                 .number(uint64_t(options_.timeout.value_or(0) * 1000), 8)
                 .str();
      job_.progressFd = progress;
    }
    std::vector<std::string> all;
    MTC_RETURN_IF_ERROR(channel_->gather(said, all));
    PayloadReader fields(all[0]);
    Status prepared;
    if (!readOutcome(fields.text(), prepared))
      return {StatusCode::internal, "rank 0 sent no job"};
    if (!prepared.ok())
      return place_.rank == 0
                 ? prepared
                 : Status(prepared.code(), "rank 0: " + prepared.message());
    std::string job = fields.text();
    flightFolder_ = fields.text();
    timeout_ = double(fields.number(8)) / 1000;
    int gpu = job_.gpu; // each rank's own
    if (place_.rank != 0)
      MTC_RETURN_IF_ERROR(unpackJob(job, job_));
    job_.gpu = gpu;
    return Status::okay();
  }

  /// The rank of the last stage that is the first along all other axes.
  bool logs() const {
    return place_.rank ==
           bundle_.mesh.moved(0, MTC_AXIS_PP, bundle_.mesh.stages() - 1);
  }

  Status begin() {
    MTC_RETURN_IF_ERROR(shareJob());
    if (logs()) {
      if (place_.rank != 0) // which has lines of its own
        progress_.open(options_.progress, job_);
      MTC_RETURN_IF_ERROR(preparation_.outputs().openLog(options_, job_));
      if (restart_.again)
        MTC_RETURN_IF_ERROR(preparation_.outputs().goOnBehind(
            job_.checkpoints.start.step, restart_.logBytes));
    }
    MTC_RETURN_IF_ERROR(
        flight_.join(place_, !options_.mpiInsideHosts, *channel_));
    return mpi_.behind(
        [this](const std::string &own, std::vector<std::string> &all) {
          return channel_->gather(own, all);
        },
        signals_.stop());
  }

  /// As the launcher numbers the ranks of a host, if it does.
  int localRank() const {
    return place_.localRank >= 0 ? place_.localRank
                                 : flight_.localRank(place_.rank);
  }

  Status shareHost(const Descriptor &descriptor,
                   std::unique_ptr<SharedHost> &out) {
    if (options_.mpiInsideHosts)
      return Status::okay();
    return SharedHost::join(
        {place_.rank, bundle_.mesh, descriptor.arenas, descriptor.posted,
         std::max(descriptor.streams, descriptor.threads), hostKey()},
        [this](const std::string &own, std::vector<std::string> &all) {
          return channel_->gather(own, all);
        },
        out);
  }

  Status train() {
    const BundleProgram &stage =
        bundle_
            .stages[size_t(bundle_.mesh.coordinate(place_.rank, MTC_AXIS_PP))];
    Program program;
    MTC_RETURN_IF_ERROR(openStage(stage.path, job_, program));
    std::unique_ptr<SharedHost> host;
    MTC_RETURN_IF_ERROR(shareHost(stage.descriptor, host));
    world_ = std::make_unique<MpiWorld>(mpi_.engine(), *channel_, bundle_.mesh,
                                        std::move(host));
    MTC_RETURN_IF_ERROR(takeSeat(*world_, {place_.rank, localRank()}, program,
                                 stage.descriptor, job_,
                                 flight_.ring(place_.rank), seat_));
    std::optional<double> limit = timeout_;
    if (place_.rank == 0)
      limit = options_.timeout;
    HostedWatch watch(*channel_, *world_, place_.rank, limit, job_.passes());
    return runSeat(seat_, std::move(program), stage.descriptor, job_,
                   {signals_.stop(), world_->gate(), &signals_.saves(),
                    world_->step(place_.rank), world_->beats(place_.rank),
                    [this] { preparation_.checkpoints().letGo(); }});
  }

  /// A failure of this rank becomes everybody's; after an end that all had, MPI
  /// ends, too.
  Status end(Status status) {
    bool orderly = status.ok() || status.code() == StatusCode::interrupted ||
                   status.code() == StatusCode::stoppedSaved ||
                   status.code() == StatusCode::nonFinite;
    if (!orderly) {
      channel_->raise(
          {StatusCode::peerDied, fmt::format("rank {} aborted", place_.rank)},
          {});
      status = failAs(status);
    } else if (!status.ok() && !world_) {
      // Others wait for what this rank does not do any more.
      std::vector<int> all(size_t(place_.world));
      std::iota(all.begin(), all.end(), 0);
      channel_->raise(status, all);
    }
    std::vector<std::string> all;
    if (world_ && channel_->gather("", all).ok())
      mpi_.finalize();
    return conclude(status);
  }

  /// With what this rank did last. Two threads may come here: the first one's
  /// reason counts.
  Status failAs(const Status &status) {
    std::lock_guard held(failing_);
    if (!failure_)
      failure_ = isForRecords(status)
                     ? flight_.write(status, place_.rank, bundle_, *channel_,
                                     flightFolder_)
                     : status;
    return *failure_;
  }

  /// The others hear how this rank ends. Rank 0 says how all did.
  Status conclude(const Status &status) {
    channel_->finish(status);
    if (place_.rank != 0)
      return status;
    std::vector<RankOutcome> failures;
    for (const auto &[rank, outcome] : channel_->outcomes())
      if (!outcome.ok())
        failures.push_back({rank, outcome, false});
    // A rank that died said nothing, and of a hang all say the same.
    if (Status verdict = channel_->verdict();
        !verdict.ok() && verdict.code() == status.code() &&
        (status.code() == StatusCode::hang ||
         (status.code() == StatusCode::peerDied &&
          (failures.size() == 1 || channel_->lost()))))
      return withVerdict(status, flightFolder_);
    // At a death launchers send SIGTERM to all others: nobody asked for an end.
    return summarize(failures, signals_.count() > 0 && !channel_->lost());
  }

  /// MPI gave up in some thread, and others may wait for that one: what this
  /// rank would have ended with, if another one is why.
  std::optional<Status> whyAborted() {
    constexpr std::chrono::milliseconds kPause{10};
    for (auto end = std::chrono::steady_clock::now() + kVerdictTime;
         !channel_->raised(); std::this_thread::sleep_for(kPause))
      if (std::chrono::steady_clock::now() > end)
        return std::nullopt;
    return conclude(failAs(channel_->verdict()));
  }

  RunOptions options_;
  const LaunchPlace &place_;
  SignalWatch signals_;
  Bundle bundle_;
  Job job_;
  HostedRestart restart_;
  std::unique_ptr<ControlChannel> channel_;
  MpiStart mpi_; ///< goes before the channel, by which MPI begins
  Preparation preparation_;
  ProgressFd progress_;
  std::string flightFolder_;
  double timeout_ = 0;              ///< rank 0's --timeout; 0: none
  HostFlight flight_;               ///< outlives the seat
  std::unique_ptr<MpiWorld> world_; ///< outlives the seat
  Seat seat_;
  std::mutex failing_;
  std::optional<Status> failure_;    ///< of this rank; guarded by `failing_`
  std::optional<AbortWatch> aborts_; ///< goes first: it looks at all above
};

} // namespace

Status runHostedRank(const RunOptions &options, const LaunchPlace &place) {
  return HostedRank(options, place).run();
}

} // namespace mtc::runtime
