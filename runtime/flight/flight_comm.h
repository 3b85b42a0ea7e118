//===- flight_comm.h - a communicator that notes its calls ------*- C++ -*-===//
#ifndef MTC_RUNTIME_FLIGHT_FLIGHT_COMM_H
#define MTC_RUNTIME_FLIGHT_FLIGHT_COMM_H

#include "runtime/flight/ring.h"

#include <array>
#include <atomic>
#include <span>
#include <utility>
#include <vector>

namespace mtc::runtime {

/// Makes the calls of a backend, and notes each: when it began, and, unless it
/// failed, when it ended. Promises and threads are those of the backend.
class FlightCommunicator final : public Communicator {
public:
  /// `backend` outlives this; `ring` may be null.
  FlightCommunicator(Communicator &backend, const Mesh &mesh, int rank,
                     FlightRing *ring);

  FlightRecorder &recorder() { return recorder_; }
  /// A program is about to issue a collective, which this thread calls next if
  /// `atOnce`, and another one later, in the order of issue, if not.
  void issue(const FlightNote &note, bool atOnce);
  /// A program gave a collective, or transfers, to a device that exchanges by
  /// itself: under way until `completed`.
  void issued(const FlightNote &note);
  void issued(std::span<const MtcTransfer> transfers) {
    if (recorder_.on())
      note(transfers);
  }
  /// Of these all up to the recorder's number `last` are done.
  void completed(uint64_t last);

  Status collective(const CollectiveCall &call, void *buffer,
                    SumReader *reader) override;
  Status post(std::span<const MtcTransfer> transfers) override;
  Status wait(std::span<const MtcTransfer> transfers) override;
  Status exchange(std::span<const MtcTransfer> transfers) override;
  Status worldFailure() const override { return backend_.worldFailure(); }
  void abort() override { backend_.abort(); }
  void threadWakes() override { backend_.threadWakes(); }
  void threadSleeps() override { backend_.threadSleeps(); }
  void finish() override { backend_.finish(); }
  std::array<int64_t, MTC_GROUP_COUNT + 1> bytesMoved() const override {
    return backend_.bytesMoved();
  }

private:
  /// Numbers of what another thread will call. One thread pushes, one pops.
  class Queue {
  public:
    void push(uint64_t number);
    uint64_t pop(); ///< 0: none
  private:
    static constexpr uint64_t kRoom = 256; ///< what finds none is noted anew
    std::array<std::atomic<uint64_t>, kRoom> numbers_{};
    std::atomic<uint64_t> pushed_{0}, popped_{0};
  };
  void note(std::span<const MtcTransfer> transfers);
  void end(std::span<const MtcTransfer> transfers);

  Communicator &backend_;
  Mesh mesh_;
  int rank_;
  FlightRecorder recorder_;
  Queue queue_;
  std::array<uint64_t, MTC_GROUP_COUNT> calls_{};
  std::vector<uint64_t> sends_, receives_; ///< by stage of the peer
  std::vector<uint64_t> underWay_; ///< numbers of a device's collectives
  /// Posted and not waited for, with their numbers.
  std::vector<std::pair<const MtcTransfer *, uint64_t>> open_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_FLIGHT_FLIGHT_COMM_H
