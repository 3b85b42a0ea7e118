//===- hosted_watch.h - ranks of many hosts look for a hang -----*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_HOSTED_WATCH_H
#define MTC_RUNTIME_CONTROL_HOSTED_WATCH_H

#include "runtime/comm/worlds.h"
#include "runtime/control/watchdog.h"
#include "runtime/rendezvous/channel.h"

#include <condition_variable>
#include <thread>

namespace mtc::runtime {

/// While it lives, a thread tells others how far this rank is. Rank 0 looks, by
/// what it hears of all, whether a step began in time, and the others whether
/// they hear of rank 0. Who finds that it is not so blames the rank that the
/// others wait for: the job fails as a hang on all of them.
class HostedWatch {
public:
  /// Of rank 0 as for Watchdog; of the others `timeout` seconds of silence; 0:
  /// they do not look. The channel and the world, which this rank has joined,
  /// outlive it.
  HostedWatch(ControlChannel &channel, World &world, int rank,
              std::optional<double> timeout, int64_t lastStep);
  ~HostedWatch();

private:
  void run();
  void look();
  void lookAtAll();
  void lookAtFirst();

  ControlChannel &channel_;
  World &world_;
  int rank_;
  double timeout_;
  Watchdog watchdog_;
  std::mutex lock_;
  std::condition_variable ends_;
  bool ending_ = false; ///< guarded by the lock
  std::thread thread_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_HOSTED_WATCH_H
