//===- hosted_watch.cpp - ranks of many hosts look for a hang -------------===//

#include "runtime/control/hosted_watch.h"

#include <fmt/format.h>

namespace mtc::runtime {

namespace {

constexpr std::chrono::milliseconds kPause{100};

} // namespace

HostedWatch::HostedWatch(ControlChannel &channel, World &world, int rank,
                         std::optional<double> timeout, int64_t lastStep)
    : channel_(channel), world_(world), rank_(rank),
      timeout_(timeout.value_or(0)), watchdog_(timeout, lastStep) {
  thread_ = std::thread([this] { run(); });
}

HostedWatch::~HostedWatch() {
  {
    std::lock_guard held(lock_);
    ending_ = true;
  }
  ends_.notify_all();
  thread_.join();
}

void HostedWatch::run() {
  std::unique_lock held(lock_);
  while (!ends_.wait_for(held, kPause, [this] { return ending_; }))
    look();
}

void HostedWatch::look() {
  channel_.report(*world_.step(rank_), *world_.beats(rank_));
  if (channel_.raised())
    return;
  if (rank_ == 0)
    lookAtAll();
  else if (timeout_ > 0)
    lookAtFirst();
}

void HostedWatch::lookAtAll() {
  std::vector<RankProgress> ranks;
  for (const LifeSign &sign : channel_.signs()) {
    ranks.push_back({sign.over ? -1 : 0, sign.step, sign.beats});
    if (sign.silent >= kStill)
      ranks.back().held = fmt::format("not heard for {:.1f} s", sign.silent);
  }
  Status hang = watchdog_.look(ranks, world_.gate().closed());
  if (!hang.ok())
    channel_.blame(suspectOf(ranks), hang);
}

void HostedWatch::lookAtFirst() {
  double silent = channel_.signs()[0].silent;
  if (silent < timeout_)
    return;
  channel_.blame(0, {StatusCode::hang,
                     fmt::format("rank 0 was not heard for {:.1f} seconds, the "
                                 "limit of --timeout: it is stopped, or its "
                                 "host is gone",
                                 silent)});
}

} // namespace mtc::runtime
