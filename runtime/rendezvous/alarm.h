//===- alarm.h - how ranks learn that one of them failed --------*- C++ -*-===//
#ifndef MTC_RUNTIME_RENDEZVOUS_ALARM_H
#define MTC_RUNTIME_RENDEZVOUS_ALARM_H

#include "runtime/base/status.h"

#include <functional>
#include <span>

namespace mtc::runtime {

/// One of a job's ranks among the others, whatever they are connected by. All
/// functions may be called from any thread.
class Alarm {
public:
  virtual ~Alarm() = default;

  /// The job fails, and every rank learns it in bounded time. Those of
  /// `members` with `status` as it is, the others with peerDied and the name of
  /// this rank. What a rank learned first stays.
  virtual void raise(const Status &status, std::span<const int> members) = 0;
  virtual bool raised() const = 0;
  /// Ok until the job failed; then why, as this rank is told.
  virtual Status verdict() const = 0;
  /// `heard` is called once, from any thread and quickly done, when this rank
  /// learns that the job failed, or at once if it did. It may ask nothing of
  /// the alarm. Empty: nobody listens any more.
  virtual void listen(std::function<void()> heard) = 0;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_RENDEZVOUS_ALARM_H
