//===- comm.h - communication of one rank with its groups -------*- C++ -*-===//
//
// The one interface of all backends (threads, shm, mpi; of GPUs nccl, which
// keeps fewer promises: device/cuda/nccl_comm.h).
//
// A call issues: its Status says what is known by then, and the call is done
// when a wait for an event behind it, on the stream of the rank's device, has
// returned ok (runtime/device/device.h). Until then the buffer is the device's.
// Lists of transfers stay as they are until what waits for them is done. The
// backends of the host are done when the call returns, which is what a stream
// that runs at once needs; Device::issuing makes them issue on another. What a
// call promises once it is done, and test/conformance checks for each backend:
//
// * Sums are added in group-rank order, in fp32 for F32, BF16 and F16 (rounded
// once),
//   exactly for I128; so all members get the same bits, and threads and shm
//   too.
// * All members must issue the same collectives in the same order with the same
//   operation, dtype and count. A disagreement is an error on every member
//   (communication), naming both calls; never a hang or wrong data.
// * A failure or death of a member makes the calls of all others fail with
//   peerDied in bounded time.
//
// Buffers of collectives and transfers lie inside the rank's arenas, which all
// backends know: that is what lets shm work in place. Buffers of up to
// kAnywhereBytes may lie anywhere. They are aligned to their element (I128: 8).
//
// Of a rank, one thread at a time may be in a collective, and one, the same or
// another, in post, wait or exchange; abort() may come from any. After a call
// failed every later call returns the same Status, and the whole world is
// aborted: ranks outside the failing group get peerDied.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_COMM_COMM_H
#define MTC_RUNTIME_COMM_COMM_H

#include "mtc/runtime/mesh.h"
#include "runtime/base/status.h"
#include "runtime/device/arena.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace mtc::runtime {

using mtc::Mesh;

/// A collective whose buffer (all-gather: part) has at most this many bytes
/// takes it from anywhere, not only from an arena.
inline constexpr int64_t kAnywhereBytes = 4096;

/// What all members of a group do together. A new one is a case here and in
/// each backend, and a function below.
enum class CollectiveKind : int32_t {
  allReduce,
  reduceScatter,
  allGather,
  barrier
};

/// One call of a collective, as the caller gave it. Plain data: backends send
/// it to other ranks to compare.
struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::barrier;
  MtcGroup group = MTC_GROUP_ALL;
  MtcReduce reduce = MTC_SUM;
  MtcDtype dtype = MTC_F32;
  int64_t count = 0; ///< elements; of what, the functions below say

  bool operator==(const CollectiveCall &) const = default;
};

/// Is told what a rank makes of a sum, while a core's cache still has it.
class SumReader {
public:
  /// Elements [first, first + count) of the call's buffer are sums now.
  virtual void made(int64_t first, int64_t count) = 0;

protected:
  ~SumReader() = default;
};

class Communicator {
public:
  virtual ~Communicator() = default;

  /// In place; `count` is elements of the whole buffer. Sum and max of F32 and
  /// BF16 (a NaN wins the max), sum of I128 (saturates, so that "too large"
  /// stays so). Other pairs: usage.
  Status allReduce(MtcGroup group, MtcReduce op, MtcDtype dtype, void *buffer,
                   int64_t count) {
    return collective({CollectiveKind::allReduce, group, op, dtype, count},
                      buffer, nullptr);
  }
  /// In place; buffer holds size·count elements; afterwards part group-rank is
  /// the sum. The other parts are unspecified.
  Status reduceScatter(MtcGroup group, MtcDtype dtype, void *buffer,
                       int64_t count) {
    return collective(
        {CollectiveKind::reduceScatter, group, MTC_SUM, dtype, count}, buffer,
        nullptr);
  }
  /// In place; part group-rank of every member is copied to all members.
  Status allGather(MtcGroup group, MtcDtype dtype, void *buffer,
                   int64_t count) {
    return collective({CollectiveKind::allGather, group, MTC_SUM, dtype, count},
                      buffer, nullptr);
  }
  Status barrier() { return collective({}, nullptr, nullptr); }
  /// Any of these. `reader`, if there is one, is told each element once by one
  /// member of an all-reduce, and those of its own part by each of a
  /// reduce-scatter; it lives until the call is done. Backends of GPUs have
  /// none: usage.
  virtual Status collective(const CollectiveCall &call, void *buffer,
                            SumReader *reader) = 0;
  /// Begins sends and receives, and waits for none: the k-th send of a rank to
  /// another goes with the k-th receive there from it, and takes place once
  /// both are posted and those before it have taken place, whatever the two
  /// ranks do meanwhile. Offsets are relative to this rank's arenas. A tag or
  /// size that differs: communication, on both sides, here or in `wait`. More
  /// of a channel than the plan has (`posted` of descriptors) take place only
  /// in a wait.
  virtual Status post(std::span<const MtcTransfer> transfers) = 0;
  /// Waits for transfers that were posted, named by their address in the list
  /// that `post` got; each once. Any other: usage.
  virtual Status wait(std::span<const MtcTransfer> transfers) = 0;
  /// One atomic group (as ncclGroup): done when all of them are.
  virtual Status exchange(std::span<const MtcTransfer> transfers) {
    Status posted = post(transfers);
    return posted.ok() ? wait(transfers) : posted;
  }
  /// Why a call would fail at once, since another rank failed or is gone; ok as
  /// long as nobody knows of one. From any thread.
  virtual Status worldFailure() const { return Status::okay(); }
  /// Makes pending and future calls of every member fail (peerDied); async-safe
  /// from other threads.
  virtual void abort() = 0;
  /// A rank begins with one thread that is awake. A device that calls from
  /// several says that one more is, before it begins, and that one sleeps until
  /// another of its rank wakes it, before it does. By this strict worlds know
  /// whether a rank can go on.
  virtual void threadWakes() {}
  virtual void threadSleeps() {}
  /// This rank announces that it makes no further call. Destruction implies it.
  /// What it means to others is the backend's matter (strict deadlock
  /// detection, a launcher that tells an exit from a death).
  virtual void finish() = 0;
  /// Bytes of payload since construction, per group, then p2p last: the whole
  /// buffer of each collective with more than one member, and what was sent
  /// (not received) in exchanges. The same in every backend, so plans can
  /// predict it.
  virtual std::array<int64_t, MTC_GROUP_COUNT + 1> bytesMoved() const = 0;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_COMM_COMM_H
