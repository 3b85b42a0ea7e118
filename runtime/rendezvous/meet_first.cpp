//===- meet_first.cpp - the others connect to rank 0 ----------------------===//

#include "runtime/rendezvous/meeting.h"

#include "runtime/base/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

namespace mtc::runtime {
namespace {

using Clock = Connection::Clock;
using Milliseconds = std::chrono::milliseconds;

/// Between two attempts to connect; each is twice as long as the one before.
constexpr Milliseconds kFirstPause{20}, kLongestPause{1000};
/// How long a connection may take to come about, and an answer to come.
constexpr Milliseconds kAnswerTime{5000};
/// Rank 0 has the same time-out, and says who is missing: wait for its word.
constexpr Milliseconds kLongerThanFirst{3000};

class Joining {
public:
  Joining(const Member &self, const MeetOptions &options)
      : self_(self), options_(options),
        end_(Clock::now() + options.timeout + kLongerThanFirst) {}

  Status run(Connection &out) {
    Milliseconds pause = kFirstPause;
    for (size_t attempt = 0;; ++attempt) {
      bool over = false;
      Status status = tryOnce(attempt, out, over);
      if (status.ok() || over)
        return status;
      if (stopped())
        return interrupted();
      if (Clock::now() + pause > end_)
        return {
            StatusCode::peerDied,
            fmt::format("rank {} cannot reach {} within {:.0f} s: {}; --master "
                        "or MTC_MASTER_ADDR names another address of its host",
                        self_.rank, first(),
                        std::chrono::duration<double>(options_.timeout).count(),
                        status.message())};
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, kLongestPause);
    }
  }

private:
  std::string first() const {
    return fmt::format("rank 0 at {},", placeOf(options_));
  }
  bool stopped() const { return options_.stop && options_.stop->load(); }
  static Status interrupted() {
    return {StatusCode::interrupted, "stopped by a signal while ranks met"};
  }

  /// `over`: another attempt would not be better.
  Status tryOnce(size_t attempt, Connection &out, bool &over) {
    int fd = -1;
    size_t places = options_.others.size() + 1, place = attempt % places;
    const std::string &address =
        place == 0 ? options_.address : options_.others[place - 1];
    MTC_RETURN_IF_ERROR(
        beginConnect(address, options_.port, attempt / places, fd));
    Connection link(fd, kMostHelloBytes);
    MTC_RETURN_IF_ERROR(awaitConnected(fd));
    Clock::time_point soon = Clock::now() + kAnswerTime;
    Frame frame;
    MTC_RETURN_IF_ERROR(await(link, soon, frame));
    std::string challenge, nonce;
    MTC_RETURN_IF_ERROR(readChallenge(
        frame.kind == FrameKind::challenge ? frame.payload : "", challenge));
    MTC_RETURN_IF_ERROR(makeNonce(nonce));
    link.send(FrameKind::hello,
              packHello(self_, nonce, challenge, options_.secret));
    MTC_RETURN_IF_ERROR(await(link, soon, frame));
    over = true;
    if (frame.kind == FrameKind::rejected)
      return rejected(frame);
    if (frame.kind != FrameKind::welcome ||
        !isWelcome(frame.payload, nonce, challenge, options_.secret))
      return {StatusCode::communication,
              fmt::format("what listens at {}, port {}, has not the secret of "
                          "this job",
                          address, options_.port)};
    link.allow(kMostFrameBytes);
    Status begun = await(link, end_, frame);
    if (!begun.ok() && !stopped())
      return {begun.code(),
              fmt::format("{} ended, or its host is gone, while rank {} waited "
                          "there for the others: {}",
                          first(), self_.rank, begun.message())};
    MTC_RETURN_IF_ERROR(begun);
    if (frame.kind != FrameKind::begin)
      return rejected(frame);
    out = std::move(link);
    return Status::okay();
  }

  static Status rejected(const Frame &frame) {
    return {StatusCode::communication,
            "rank 0 says: " + printable(frame.payload)};
  }

  Status awaitConnected(int fd) const {
    pollfd at{fd, POLLOUT, 0};
    int error = ETIMEDOUT;
    socklen_t length = sizeof error;
    if (poll(&at, 1, int(kAnswerTime.count())) == 1)
      getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error == 0)
      return Status::okay();
    return {StatusCode::failed, std::strerror(error)};
  }

  Status await(Connection &link, Clock::time_point until, Frame &out) const {
    while (true) {
      if (std::optional<Frame> frame = link.next()) {
        out = *std::move(frame);
        return Status::okay();
      }
      if (!link.open())
        return {StatusCode::peerDied, "it closed the connection"};
      if (stopped())
        return interrupted();
      if (Clock::now() > until)
        return {StatusCode::peerDied, "it does not answer"};
      constexpr int kTickMilliseconds = 100;
      pollfd at{link.fd(), POLLIN, 0};
      poll(&at, 1, kTickMilliseconds);
      link.receive();
    }
  }

  const Member &self_;
  const MeetOptions &options_;
  Clock::time_point end_;
};

} // namespace

Status meetFirst(const Member &self, const MeetOptions &options,
                 Connection &link) {
  return Joining(self, options).run(link);
}

} // namespace mtc::runtime
