//===- channel_thread.cpp - listens, and says that this rank lives --------===//

#include "runtime/rendezvous/channel.h"

#include "runtime/rendezvous/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <poll.h>
#include <unistd.h>

namespace mtc::runtime {

using Clock = Connection::Clock;

namespace {

constexpr const char *kNoMessage = "sent what is no message of mtc";

} // namespace

void ControlChannel::run() {
  while (true) {
    turn();
    std::lock_guard held(lock_);
    if (ending_)
      return links_.clear();
  }
}

void ControlChannel::turn() {
  std::vector<pollfd> fds{{wakeFd_, POLLIN, 0}};
  int wait = 0;
  {
    std::lock_guard held(lock_);
    for (const Connection &link : links_)
      fds.push_back(
          {link.fd(), short(link.pending() ? POLLIN | POLLOUT : POLLIN), 0});
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        nextBeat_ - Clock::now());
    wait = int(std::max<int64_t>(left.count() + 1, 0));
  }
  poll(fds.data(), fds.size(), wait);
  uint64_t ignored = 0;
  while (read(wakeFd_, &ignored, sizeof ignored) > 0) {
  }
  std::lock_guard held(lock_);
  bool wrote = false;
  for (size_t i = 0; i < links_.size(); ++i) {
    wrote |= links_[i].pending();
    links_[i].flush();
    listenTo(int(i));
  }
  if (wrote)
    changed_.notify_all();
  beat();
}

void ControlChannel::listenTo(int index) {
  Connection &link = links_[size_t(index)];
  if (!link.open())
    return;
  link.receive();
  while (std::optional<Frame> frame = link.next())
    obey(index, *frame);
  if (!link.open())
    lose(index, "died");
}

/// A link is of no use any more. No news of one that is done.
void ControlChannel::lose(int index, const std::string &how) {
  links_[size_t(index)].close();
  if (done_[size_t(index)])
    return;
  done_[size_t(index)] = true;
  int rank = rankOf(index);
  Failure failure{rank, {StatusCode::peerDied, how}, {}, how};
  fail(packFailure(failure));
  changed_.notify_all();
}

/// Learns of a failure and tells the others, where this rank is in their
/// middle.
void ControlChannel::fail(const std::string &payload) {
  Failure failure;
  if (!readFailure(payload, failure) || failure.origin < 0 ||
      failure.origin >= self_.world)
    return;
  if (self_.rank == 0 && !raised_) {
    failure.how = whereIs(failure.origin) + failure.how; // others do not know
    send(FrameKind::failure, packFailure(failure), failure.origin);
  }
  learn(failure,
        verdictOf(failure, self_.rank, fmt::format("rank {}", failure.origin)));
}

void ControlChannel::obey(int index, const Frame &frame) {
  Given given;
  Progress progress;
  Status outcome;
  switch (frame.kind) {
  case FrameKind::gather:
    if (!readGiven(frame.payload, given) || given.rank < 0 ||
        given.rank >= self_.world)
      return lose(index, kNoMessage);
    rounds_[given.round][given.rank] = std::move(given.bytes);
    if (!allGathered(given.round))
      return missEnded();
    if (self_.rank == 0)
      for (const auto &[rank, bytes] : rounds_[given.round])
        send(FrameKind::gather, packGiven({given.round, rank, bytes}));
    return changed_.notify_all();
  case FrameKind::failure:
    return fail(frame.payload);
  case FrameKind::finish:
    if (readOutcome(frame.payload, outcome))
      outcomes_[rankOf(index)] = outcome;
    done_[size_t(index)] = true;
    missEnded();
    return changed_.notify_all();
  case FrameKind::heartbeat:
    if (!readProgress(frame.payload, progress))
      return lose(index, kNoMessage);
    signs_[size_t(index)].sign.step = progress.step;
    signs_[size_t(index)].sign.beats = progress.beats;
    return;
  default: // of ranks that meet: they have
    return;
  }
}

/// Says that this rank lives, and looks who does not.
void ControlChannel::beat() {
  Clock::time_point now = Clock::now();
  if (now < nextBeat_)
    return;
  std::chrono::duration<double> looked =
      std::min<Clock::duration>(now - nextBeat_, heartbeats_.period) +
      heartbeats_.period;
  nextBeat_ = now + heartbeats_.period;
  send(FrameKind::heartbeat, packProgress({step_, beats_}));
  std::chrono::duration<double> patience = heartbeats_.patience;
  for (size_t i = 0; i < links_.size(); ++i) {
    Sign &of = signs_[i];
    bool heard = links_[i].heard() != of.heard;
    of.heard = links_[i].heard();
    of.sign.silent = heard ? 0 : of.sign.silent + looked.count();
    if (links_[i].open() && !done_[i] && of.sign.silent > patience.count())
      lose(int(i), fmt::format("was not heard for {:.0f} s", of.sign.silent));
  }
}

} // namespace mtc::runtime
