//===- channel.h - the ranks of a job, connected for its whole time -------===//
//
// A star of TCP connections with rank 0 in its middle, for what is small and
// rare: who died, what all must know before they begin. Tensors go elsewhere.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_RENDEZVOUS_CHANNEL_H
#define MTC_RUNTIME_RENDEZVOUS_CHANNEL_H

#include "runtime/rendezvous/alarm.h"
#include "runtime/rendezvous/meeting.h"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace mtc::runtime {

/// How often a rank says that it lives, and how long others believe that of one
/// that says nothing. One that dies is noticed at once, by the end of its
/// connection; this is for hosts that vanish and processes that are stopped.
struct Heartbeats {
  std::chrono::milliseconds period{250}, patience{10'000};
};

/// Seconds of silence from which on a rank is one that does not run, if others
/// wait for it: a process that is stopped, or on a host that is gone.
inline constexpr double kStill = 0.9;

/// What a rank's signs of life say of it.
struct LifeSign {
  int64_t step = 0, beats = 0; ///< as ControlChannel::report
  bool over = false;           ///< it ended, or was lost
  /// Seconds since the last one. Time in which this process did not look, as
  /// when all are stopped in a terminal, counts as two periods at most.
  double silent = 0;
};

struct Failure;

/// One rank's end. A thread of its own keeps it alive, whatever the rank does.
class ControlChannel final : public Alarm {
public:
  /// Waits until all ranks are there. Errors: those of meeting.h.
  static Status open(const Member &self, const MeetOptions &options,
                     const Heartbeats &heartbeats,
                     std::unique_ptr<ControlChannel> &out);
  /// Without finish() before, it is this rank's death to all others.
  ~ControlChannel() override;

  /// Every rank gives something, at most kMostGivenBytes, and gets everybody's,
  /// by rank. Errors: the verdict, once the job has failed, as when a rank
  /// ended that others wait for here; failed, for more bytes.
  Status gather(const std::string &own, std::vector<std::string> &all);

  void raise(const Status &status, std::span<const int> members) override;
  bool raised() const override { return raised_.load(); }
  Status verdict() const override;
  /// `rank`, which may be silent, holds the job up, and it fails: all ranks get
  /// `status` as it is.
  void blame(int rank, const Status &status);
  /// The rank that the job fails for and that said no word of it: it died, or
  /// holds others up. None: the job does not fail, or a rank that lives said
  /// why.
  std::optional<int> lost() const;
  /// Rank 0 of any rank, others of rank 0: it does not tell how it ends.
  bool isSilent(int rank) const;

  /// How far this rank is: the step that it began last, and batches that it
  /// evaluated between steps. Others learn it with its next sign of life.
  void report(int64_t step, int64_t beats);
  /// Of rank 0: what it knows of all ranks, by rank. Of the others: of rank 0.
  std::vector<LifeSign> signs() const;

  void listen(std::function<void()> heard) override;

  /// This rank is done and ended with `outcome`: its end is no death. Rank 0
  /// returns once all others are done, or, after a failure, once they had two
  /// seconds for that.
  void finish(const Status &outcome);
  /// How ranks ended, as far as they said it. Of use behind finish(), on rank
  /// 0.
  std::map<int, Status> outcomes() const;

private:
  ControlChannel(const Member &self, const Heartbeats &heartbeats);

  void run(); ///< the thread
  void turn();
  void listenTo(int index);
  void obey(int index, const Frame &frame);
  void beat();
  void lose(int index, const std::string &how);
  /// Rank at the other end of links_[index].
  int rankOf(int index) const { return self_.rank == 0 ? index : 0; }
  /// Rank 0, where ranks have several hosts: "on node7 ".
  std::string whereIs(int rank) const;
  bool allGathered(uint32_t round) const;
  void missEnded();
  void send(FrameKind kind, const std::string &payload, int except = -1);
  void fail(const std::string &payload);
  void learn(const Failure &failure, Status status);
  /// Rank 0 has one of the rank at the other end, the others of rank 0.
  struct Sign {
    LifeSign sign;
    Connection::Clock::time_point heard{};
  };
  bool othersDone() const;
  void wake() const;

  const Member self_;
  const Heartbeats heartbeats_;
  std::vector<std::string> hosts_;
  int wakeFd_ = -1;
  mutable std::mutex lock_; ///< guards all below
  std::condition_variable changed_;
  std::vector<Connection> links_; ///< rank 0: by rank; others: the one to it
  std::vector<bool> done_;        ///< by link: it said so, or it was lost
  /// What came of each round, by rank.
  std::map<uint32_t, std::map<int, std::string>> rounds_;
  uint32_t round_ = 0;
  std::map<int, Status> outcomes_;
  Status verdict_;
  std::optional<int> lost_;
  std::vector<Sign> signs_; ///< by link
  int64_t step_ = 0, beats_ = 0;
  std::function<void()> heard_;
  std::atomic<bool> raised_{false};
  bool finished_ = false, ending_ = false;
  Connection::Clock::time_point nextBeat_{};
  std::thread thread_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_RENDEZVOUS_CHANNEL_H
