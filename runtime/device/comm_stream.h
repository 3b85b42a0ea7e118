//===- comm_stream.h - collectives beside a device's stream -----*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_COMM_STREAM_H
#define MTC_RUNTIME_DEVICE_COMM_STREAM_H

#include "runtime/base/status.h"
#include "runtime/base/trace_time.h"

#include <cstdint>
#include <vector>

namespace mtc::runtime {

struct CollectiveCall; // comm/comm.h

/// A second queue of a device: MTC_STREAM_COMM beside the device's stream,
/// which is MTC_STREAM_COMPUTE. Collectives run in the order of issue, beside
/// what the other stream does, and events order the two. Events have the
/// numbers of the program. Used by the thread that issues on the device's
/// stream. A failure stops the queue: what was issued behind it does not run.
class CommStream {
public:
  virtual ~CommStream() = default;

  /// Issues a collective; `buffer` is the device's until it is done. Says what
  /// is known to have failed by then.
  virtual Status collective(const CollectiveCall &call, void *buffer) = 0;
  /// `event` stands for all that `stream` was given so far.
  virtual void record(int64_t event, int64_t stream) = 0;
  /// What `stream` is given later runs after all that `event` stands for; one
  /// that nobody recorded stands for nothing. Says what is known to have
  /// failed: all of this queue's before the event, if the device's stream
  /// waits.
  virtual Status wait(int64_t event, int64_t stream) = 0;
  /// Returns when the queue is empty, with its first failure. After a failure
  /// elsewhere the communicator must have been aborted: else it may wait for
  /// ranks that never come.
  virtual Status finish() = 0;
  /// Adds to `times`, from now on, when each collective ran; null: no more.
  /// Only while the queue is empty; to be read when it is so again.
  virtual void traceTo(std::vector<TraceTime> *times) = 0;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DEVICE_COMM_STREAM_H
