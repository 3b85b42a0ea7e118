//===- channel.cpp - what ranks tell each other ---------------------------===//

#include "runtime/rendezvous/channel.h"

#include "runtime/rendezvous/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <sys/eventfd.h>
#include <unistd.h>

namespace mtc::runtime {

namespace {

/// How long others may take to end once the job has failed.
constexpr std::chrono::seconds kGrace{2};

} // namespace

ControlChannel::ControlChannel(const Member &self, const Heartbeats &heartbeats)
    : self_(self), heartbeats_(heartbeats),
      wakeFd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

Status ControlChannel::open(const Member &self, const MeetOptions &options,
                            const Heartbeats &heartbeats,
                            std::unique_ptr<ControlChannel> &out) {
  std::unique_ptr<ControlChannel> made(new ControlChannel(self, heartbeats));
  if (self.rank == 0) {
    MTC_RETURN_IF_ERROR(meetAsFirst(self, options, made->links_, made->hosts_));
  } else {
    made->links_.emplace_back();
    MTC_RETURN_IF_ERROR(meetFirst(self, options, made->links_[0]));
  }
  made->done_.resize(made->links_.size());
  made->signs_.resize(made->links_.size());
  if (self.rank == 0)
    made->done_[0] = true; // itself
  made->thread_ = std::thread([channel = made.get()] { channel->run(); });
  out = std::move(made);
  return Status::okay();
}

ControlChannel::~ControlChannel() {
  {
    std::lock_guard held(lock_);
    ending_ = true;
  }
  wake();
  if (thread_.joinable())
    thread_.join();
  if (wakeFd_ >= 0)
    close(wakeFd_);
}

void ControlChannel::wake() const {
  uint64_t one = 1;
  ssize_t ignored = write(wakeFd_, &one, sizeof one);
  (void)ignored;
}

std::string ControlChannel::whereIs(int rank) const {
  bool one = std::ranges::all_of(
      hosts_, [&](const std::string &host) { return host == self_.host; });
  return one ? "" : fmt::format("on {} ", hosts_[size_t(rank)]);
}

Status ControlChannel::gather(const std::string &own,
                              std::vector<std::string> &all) {
  if (own.size() > kMostGivenBytes)
    return {
        StatusCode::failed,
        fmt::format("rank {} has {} bytes for the other ranks, and can tell "
                    "them {} at a time",
                    self_.rank, own.size(), kMostGivenBytes)};
  std::unique_lock held(lock_);
  uint32_t round = round_++;
  rounds_[round][self_.rank] = own;
  if (self_.rank != 0)
    send(FrameKind::gather, packGiven({round, self_.rank, own}));
  else if (allGathered(round))
    for (const auto &[rank, given] : rounds_[round])
      send(FrameKind::gather, packGiven({round, rank, given}));
  missEnded();
  wake();
  changed_.wait(held, [&] { return allGathered(round) || raised_; });
  if (!allGathered(round))
    return verdict_;
  all.clear();
  for (auto &[rank, given] : rounds_[round])
    all.push_back(std::move(given));
  rounds_.erase(round);
  return Status::okay();
}

bool ControlChannel::allGathered(uint32_t round) const {
  auto found = rounds_.find(round);
  return found != rounds_.end() && int(found->second.size()) == self_.world;
}

/// Rank 0 tells those who wait for a rank that ended without giving: the job
/// fails by it.
void ControlChannel::missEnded() {
  if (self_.rank != 0 || raised_)
    return;
  auto ended = [&](int rank) {
    return rank == 0 ? finished_ : bool(done_[size_t(rank)]);
  };
  std::vector<int> over;
  for (int rank = 0; rank < self_.world; ++rank)
    if (ended(rank))
      over.push_back(rank);
  for (const auto &[round, given] : rounds_)
    for (int rank : over)
      if (!given.contains(rank)) {
        std::string how = "ended while others waited for it";
        return fail(packFailure({rank, {StatusCode::peerDied, how}, {}, how}));
      }
}

void ControlChannel::send(FrameKind kind, const std::string &payload,
                          int except) {
  for (size_t i = 0; i < links_.size(); ++i)
    if (links_[i].open() && int(i) != except)
      links_[i].send(kind, payload);
}

void ControlChannel::learn(const Failure &failure, Status status) {
  if (raised_)
    return;
  verdict_ = std::move(status);
  if (!saidItself(failure))
    lost_ = failure.origin;
  raised_ = true;
  changed_.notify_all();
  if (heard_)
    heard_();
}

void ControlChannel::listen(std::function<void()> heard) {
  std::lock_guard held(lock_);
  heard_ = std::move(heard);
  if (heard_ && raised_)
    heard_();
}

void ControlChannel::raise(const Status &status, std::span<const int> members) {
  std::lock_guard held(lock_);
  if (raised_)
    return;
  Failure failure{self_.rank, status, {members.begin(), members.end()}};
  learn(failure,
        verdictOf(failure, self_.rank, fmt::format("rank {}", self_.rank)));
  send(FrameKind::failure, packFailure(failure));
  wake();
}

void ControlChannel::blame(int rank, const Status &status) {
  std::lock_guard held(lock_);
  if (raised_)
    return;
  Failure failure{rank, status, {}, "holds others up"};
  for (int member = 0; member < self_.world; ++member)
    failure.members.push_back(member);
  learn(failure, status);
  send(FrameKind::failure, packFailure(failure));
  // Nobody waits for an end that a process which is stopped will not tell.
  auto link = size_t(self_.rank == 0 ? rank : 0);
  if (rank != self_.rank && signs_[link].sign.silent >= kStill)
    done_[link] = true;
  wake();
}

std::optional<int> ControlChannel::lost() const {
  std::lock_guard held(lock_);
  return lost_;
}

bool ControlChannel::isSilent(int rank) const {
  std::lock_guard held(lock_);
  auto link = size_t(self_.rank == 0 ? rank : 0);
  return rank != self_.rank && !outcomes_.contains(rank) &&
         (done_[link] || signs_[link].sign.silent >= kStill);
}

void ControlChannel::report(int64_t step, int64_t beats) {
  std::lock_guard held(lock_);
  step_ = step;
  beats_ = beats;
}

std::vector<LifeSign> ControlChannel::signs() const {
  std::lock_guard held(lock_);
  std::vector<LifeSign> all;
  for (size_t i = 0; i < signs_.size(); ++i) {
    all.push_back(signs_[i].sign);
    all.back().over = done_[i];
  }
  if (self_.rank == 0)
    all[0] = {step_, beats_, false, 0};
  return all;
}

Status ControlChannel::verdict() const {
  std::lock_guard held(lock_);
  return verdict_;
}

std::map<int, Status> ControlChannel::outcomes() const {
  std::lock_guard held(lock_);
  return outcomes_;
}

bool ControlChannel::othersDone() const {
  return std::ranges::all_of(done_, [](bool done) { return done; });
}

void ControlChannel::finish(const Status &outcome) {
  std::unique_lock held(lock_);
  if (finished_)
    return;
  finished_ = true;
  outcomes_[self_.rank] = outcome;
  send(FrameKind::finish, packOutcome(outcome));
  missEnded();
  wake();
  auto sent = [&] {
    return std::ranges::none_of(
        links_, [](const Connection &link) { return link.pending(); });
  };
  auto over = [&] { return sent() && (self_.rank != 0 || othersDone()); };
  while (!over() && !raised_)
    changed_.wait_for(held, heartbeats_.period);
  if (raised_)
    changed_.wait_for(held, kGrace, over);
}

} // namespace mtc::runtime
