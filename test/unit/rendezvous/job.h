//===- job.h - ranks of a job as threads --------------------------*- C++
//-*-===//
#ifndef MTC_TEST_UNIT_RENDEZVOUS_JOB_H
#define MTC_TEST_UNIT_RENDEZVOUS_JOB_H

#include "runtime/rendezvous/channel.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <unistd.h>

namespace mtc::test {

/// A socket that listens on this host, and who meets there.
class Job {
public:
  explicit Job(int world) : world_(world) {
    EXPECT_TRUE(runtime::listenAt("127.0.0.1", 0, listenFd_).ok());
    options_.port = runtime::portOf(listenFd_);
    options_.secret = "secret";
    options_.timeout = std::chrono::seconds(20);
  }
  ~Job() { close(listenFd_); }

  int port() const { return options_.port; }
  int listening() const { return listenFd_; }
  runtime::MeetOptions &options() { return options_; }
  runtime::Heartbeats &heartbeats() { return heartbeats_; }
  runtime::Member member(int rank) const {
    return {rank, world_, "plan", "bundle", "host" + std::to_string(rank / 2)};
  }

  using Channel = std::unique_ptr<runtime::ControlChannel>;
  runtime::Status open(const runtime::Member &self,
                       const runtime::MeetOptions &options, Channel &out) {
    runtime::MeetOptions own = options;
    own.listenFd = self.rank == 0 ? listenFd_ : -1;
    return runtime::ControlChannel::open(self, own, heartbeats_, out);
  }
  runtime::Status open(int rank, Channel &out) {
    return open(member(rank), options_, out);
  }

  /// Runs `body` as each of these ranks, and waits for all.
  void run(const std::vector<int> &ranks,
           const std::function<void(int)> &body) {
    std::vector<std::thread> threads;
    for (int rank : ranks)
      threads.emplace_back([&body, rank] { body(rank); });
    for (std::thread &thread : threads)
      thread.join();
  }
  std::vector<int> all() const {
    std::vector<int> ranks;
    for (int rank = 0; rank < world_; ++rank)
      ranks.push_back(rank);
    return ranks;
  }

private:
  int world_, listenFd_ = -1;
  runtime::MeetOptions options_;
  runtime::Heartbeats heartbeats_;
};

/// Waits up to so long for a channel to know of a failure.
inline bool hears(const runtime::Alarm &alarm, std::chrono::milliseconds time) {
  auto end = std::chrono::steady_clock::now() + time;
  while (!alarm.raised() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  return alarm.raised();
}

} // namespace mtc::test
#endif // MTC_TEST_UNIT_RENDEZVOUS_JOB_H
