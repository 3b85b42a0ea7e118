//===- ring.h - the last operations of a rank -------------------*- C++ -*-===//
//
// A ring in memory that outlives the rank: of its process, if a launcher made
// it. Its rank writes it, whoever looks reads it at any time; an entry that is
// overwritten meanwhile is left out.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_FLIGHT_RING_H
#define MTC_RUNTIME_FLIGHT_RING_H

#include "runtime/comm/comm.h"

#include <atomic>
#include <cstdint>
#include <vector>

namespace mtc::runtime {

/// Rows of a timeline, calls of a communicator, and the transfers of these.
enum class FlightKind : uint8_t {
  load,
  fragment,
  exchange,
  post,
  wait,
  collective,
  send,
  receive
};

/// What is noted of one operation. Plain data; times by traceNow(), 0: not yet.
struct FlightNote {
  FlightKind kind = FlightKind::fragment;
  CollectiveCall call{};   ///< collective: what is called
  int32_t fragment = -1;   ///< in the row's fragment, of the program; -1: none
  int32_t microbatch = -1; ///< of the row; -1: none
  int32_t row = -1;        ///< of the entry's timeline; -1: outside of it
  int32_t index = -1;      ///< collective: the how manieth of its row, from 0
  int32_t peer = -1;       ///< send, receive: the other rank
  int64_t bytes = 0;       ///< send, receive
  int64_t step = 0;        ///< in progress; 0: none
  uint64_t sequence = 0; ///< from 1: calls of the group, transfers of the pair
                         ///< in that direction
  int64_t created = 0;
};

struct FlightEntry {
  std::atomic<uint64_t> number; ///< of the operation, from 1; 0: being written
  FlightNote note;
  std::atomic<int64_t> started, completed;
};

/// All zero is its initial state.
struct FlightRing {
  static constexpr uint64_t kEntries = 1024;
  std::atomic<uint64_t> count; ///< operations so far
  FlightEntry entries[kEntries];

  FlightEntry &at(uint64_t number) { return entries[number % kEntries]; }
};

/// One operation, as it was when somebody looked.
struct FlightOperation {
  uint64_t number = 0;
  FlightNote note;
  int64_t started = 0, completed = 0;
};

/// What a ring has, in the order of issue.
std::vector<FlightOperation> readRing(const FlightRing &ring);

/// Notes what its rank does. Used by the threads of one rank: each number that
/// begin() gave is ended by one of them.
class FlightRecorder {
public:
  /// `ring` may be null: nothing is noted.
  explicit FlightRecorder(FlightRing *ring) : ring_(ring) {}

  bool on() const { return ring_ != nullptr; }
  /// The number of the last operation; 0: none.
  uint64_t count() const {
    return ring_ ? ring_->count.load(std::memory_order_relaxed) : 0;
  }
  void setStep(int64_t step) { step_.store(step, std::memory_order_relaxed); }
  /// Notes an operation, which begins now or is only issued.
  uint64_t begin(FlightNote note, bool starts = true);
  /// It runs now; `sequence` is among the calls of its group.
  void start(uint64_t number, uint64_t sequence);
  void end(uint64_t number);

private:
  FlightRing *ring_;
  std::atomic<int64_t> step_{0};
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_FLIGHT_RING_H
