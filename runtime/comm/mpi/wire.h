//===- wire.h - messages between ranks, and waiting for them ----*- C++ -*-===//
#ifndef MTC_RUNTIME_COMM_MPI_WIRE_H
#define MTC_RUNTIME_COMM_MPI_WIRE_H

#include "mtc/runtime/mesh.h"
#include "runtime/base/status.h"
#include "runtime/comm/mpi/engine.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

namespace mtc::runtime::comm {

/// What a message is of. Each kind has its own order, as ranks have several
/// groups, and two threads.
inline constexpr int kTagCalls = 0; ///< + group: what members call
inline constexpr int kTagParts = MTC_GROUP_COUNT;    ///< + group: their data
inline constexpr int kTagSent = 2 * MTC_GROUP_COUNT; ///< what a sender says
inline constexpr int kTagExpected = kTagSent + 1;    ///< what a receiver says
inline constexpr int kTagBytes = kTagSent + 2;       ///< data of transfers

/// Messages of which all must arrive before a collective goes on. Reused, so
/// that a step allocates nothing.
class MpiBatch {
public:
  void reserve(size_t messages) { open_.reserve(messages); }

private:
  friend class MpiWire;
  std::vector<MpiRequest> open_;
};

/// The engine, one call at a time, and how long ranks wait. What is given to it
/// stays where it is until it has arrived, or to the end of the process where
/// that is never awaited: after a failure nothing goes on.
class MpiWire {
public:
  explicit MpiWire(const MpiEngine &engine) : engine_(engine) {}

  std::mutex &lock() { return lock_; }

  // With the lock held.
  Status send(const void *data, int64_t bytes, int to, int tag,
              MpiRequest &request);
  Status receive(void *data, int64_t bytes, int from, int tag,
                 MpiRequest &request);
  Status test(MpiRequest &request, bool &done);
  /// The same for a batch; data of any length go as several messages.
  Status send(const void *data, int64_t bytes, int to, int tag,
              MpiBatch &batch);
  Status receive(void *data, int64_t bytes, int from, int tag, MpiBatch &batch);
  /// Whether all have arrived.
  Status test(MpiBatch &batch, bool &done);
  /// Waits for that. Errors: peerDied, after `time`; interrupted, once `stop`
  /// is there and true.
  Status await(MpiBatch &batch, std::chrono::milliseconds time,
               const std::atomic<bool> *stop);

private:
  Status check(int error) const;
  const MpiEngine &engine_;
  std::mutex lock_;
};

/// Between two looks at what is on its way: the processor goes to whoever has
/// something to do, first at once, then for longer and longer.
class Patience {
public:
  void pause();
  void forget() { looks_ = 0; }

private:
  int looks_ = 0;
};

} // namespace mtc::runtime::comm
#endif // MTC_RUNTIME_COMM_MPI_WIRE_H
