//===- meet_as_first.cpp - rank 0 waits for the others --------------------===//

#include "runtime/rendezvous/meeting.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <map>
#include <poll.h>
#include <unistd.h>

namespace mtc::runtime {
namespace {

using Clock = Connection::Clock;

/// How long a stranger may take to say who it is.
constexpr std::chrono::seconds kHelloTime{5};
/// Strangers at a time beside the ranks; of more, the oldest goes.
constexpr size_t kSpareStrangers = 16;
constexpr int kTickMilliseconds = 100;

/// Who connected and has not proved anything.
struct Stranger {
  Connection link;
  std::string from, challenge;
  Clock::time_point since = Clock::now();
};

class Meeting {
public:
  Meeting(const Member &self, const MeetOptions &options,
          std::vector<Connection> &links, std::vector<std::string> &hosts)
      : self_(self), options_(options), links_(links), hosts_(hosts) {
    links_.resize(size_t(self.world));
    hosts_.resize(size_t(self.world));
    hosts_[0] = self.host;
  }
  ~Meeting() {
    if (listenFd_ >= 0 && listenFd_ != options_.listenFd)
      close(listenFd_);
  }

  Status run() {
    listenFd_ = options_.listenFd;
    if (listenFd_ < 0)
      MTC_RETURN_IF_ERROR(
          listenAt(options_.others.empty() ? options_.address : kAllAddresses,
                   options_.port, listenFd_));
    Clock::time_point end = Clock::now() + options_.timeout;
    while (failure_.ok() && !missing().empty()) {
      if (options_.stop && options_.stop->load())
        failure_ = {StatusCode::interrupted,
                    "stopped by a signal while ranks met"};
      else if (Clock::now() > end)
        failure_ = timedOut();
      else
        turn();
    }
    for (Connection &link : links_)
      if (link.open() && failure_.ok())
        link.send(FrameKind::begin, {});
      else if (link.open())
        link.send(FrameKind::rejected, failure_.message());
    return failure_;
  }

private:
  std::vector<int> missing() const {
    std::vector<int> ranks;
    for (int rank = 1; rank < self_.world; ++rank)
      if (!links_[size_t(rank)].open())
        ranks.push_back(rank);
    return ranks;
  }

  Status timedOut() const {
    std::vector<std::string> here;
    for (int rank = 0; rank < self_.world; ++rank)
      if (rank == 0 || links_[size_t(rank)].open())
        here.push_back(fmt::format("{} on {}", rank, hosts_[size_t(rank)]));
    constexpr size_t kMostNamed = 16;
    size_t named = std::min(here.size(), kMostNamed);
    std::string text = fmt::format(
        "expected {} ranks at {}, within {:.0f} s, missing: {}; here are {}{}",
        self_.world, placeOf(options_),
        std::chrono::duration<double>(options_.timeout).count(),
        rankList(missing()),
        fmt::join(here.begin(), here.begin() + ptrdiff_t(named), ", "),
        named < here.size() ? fmt::format(" and {} more", here.size() - named)
                            : "");
    for (const auto &[who, what] : notes_)
      text += fmt::format("; {}: {}", who, what);
    return {StatusCode::peerDied, text};
  }

  void turn() {
    std::vector<pollfd> fds{{listenFd_, POLLIN, 0}};
    for (const Stranger &stranger : strangers_)
      fds.push_back({stranger.link.fd(), POLLIN, 0});
    for (const Connection &link : links_)
      fds.push_back({link.fd(), POLLIN, 0}); // -1 is skipped
    poll(fds.data(), fds.size(), kTickMilliseconds);
    if (fds[0].revents)
      accept();
    for (Stranger &stranger : strangers_)
      listenTo(stranger);
    std::erase_if(strangers_, [](const Stranger &s) {
      return !s.link.open() || Clock::now() - s.since > kHelloTime;
    });
    // Nothing is to come from a rank yet but its end: then it is missing again.
    for (size_t rank = 1; rank < links_.size(); ++rank)
      if (links_[rank].open()) {
        links_[rank].receive();
        if (!links_[rank].open())
          note(fmt::format("rank {} on {}", rank, hosts_[rank]),
               "ended before all were here");
      }
  }

  /// For the message of a time-out.
  void note(const std::string &who, const std::string &what) {
    constexpr size_t kMostKept = 8;
    if (notes_.size() < kMostKept)
      notes_[who] = what;
  }

  void accept() {
    std::string from;
    for (int fd; (fd = acceptNext(listenFd_, from)) >= 0;) {
      Stranger stranger{Connection(fd, kMostHelloBytes), from, {}};
      if (Status random = makeNonce(stranger.challenge); !random.ok()) {
        failure_ = random;
        return;
      }
      stranger.link.send(FrameKind::challenge,
                         packChallenge(stranger.challenge));
      strangers_.push_back(std::move(stranger));
      if (strangers_.size() > size_t(self_.world) + kSpareStrangers)
        strangers_.pop_front();
    }
  }

  void listenTo(Stranger &stranger) {
    stranger.link.receive();
    std::optional<Frame> frame = stranger.link.next();
    if (!frame || !stranger.link.open())
      return;
    if (frame->kind != FrameKind::hello)
      return stranger.link.close();
    Member other;
    std::string nonce;
    switch (readHello(frame->payload, stranger.challenge, options_.secret,
                      other, nonce)) {
    case HelloProof::none:
      return stranger.link.close();
    case HelloProof::otherVersion:
      return reject(stranger,
                    "it speaks another version of the rendezvous; run "
                    "the same mtc on all hosts");
    case HelloProof::otherSecret:
      return reject(
          stranger,
          fmt::format("rank {} on {} has another secret than rank 0 "
                      "on {}; give all ranks the same (MTC_JOB_SECRET "
                      "or MTC_JOB_SECRET_FILE)",
                      other.rank, other.host, self_.host));
    case HelloProof::good:
      return admit(stranger, other, nonce);
    }
  }

  /// Not a failure of the job: whoever it is may come again as it should.
  void reject(Stranger &stranger, const std::string &why) {
    note("rejected " + stranger.from, why);
    stranger.link.send(FrameKind::rejected, why);
    stranger.link.close();
  }

  void admit(Stranger &stranger, const Member &other,
             const std::string &nonce) {
    Status same = checkSameJob(self_, other);
    if (!same.ok()) {
      failure_ = same;
      stranger.link.send(FrameKind::rejected, same.message());
      return stranger.link.close();
    }
    if (other.rank < 1 || other.rank >= self_.world)
      return reject(stranger,
                    fmt::format("expected a rank from 1 to {}, found "
                                "{} on {}",
                                self_.world - 1, other.rank, other.host));
    Connection &link = links_[size_t(other.rank)];
    if (link.open())
      return reject(stranger,
                    fmt::format("rank {} on {} is here already, from {}; give "
                                "each rank its own number",
                                other.rank, other.host,
                                hosts_[size_t(other.rank)]));
    hosts_[size_t(other.rank)] = other.host;
    link = std::move(stranger.link);
    link.allow(kMostFrameBytes);
    link.send(FrameKind::welcome,
              packWelcome(nonce, stranger.challenge, options_.secret));
  }

  const Member &self_;
  const MeetOptions &options_;
  std::vector<Connection> &links_;
  std::vector<std::string> &hosts_;
  int listenFd_ = -1;
  std::list<Stranger> strangers_;
  std::map<std::string, std::string> notes_;
  Status failure_;
};

} // namespace

std::string placeOf(const MeetOptions &options) {
  std::string text = options.address;
  for (const std::string &other : options.others)
    text += " or " + other;
  return fmt::format("{}, port {}", text, options.port);
}

std::string rankList(const std::vector<int> &ranks) {
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1)
      ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", ranks[i]);
    if (end - i > 2)
      text += fmt::format(" to {}", ranks[end - 1]);
    i = end - i > 2 ? end : i + 1;
  }
  return text;
}

Status meetAsFirst(const Member &self, const MeetOptions &options,
                   std::vector<Connection> &links,
                   std::vector<std::string> &hosts) {
  return Meeting(self, options, links, hosts).run();
}

} // namespace mtc::runtime
