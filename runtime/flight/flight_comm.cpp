//===- flight_comm.cpp - a communicator that notes its calls --------------===//

#include "runtime/flight/flight_comm.h"

#include <functional>

namespace mtc::runtime {
namespace {

/// What this thread's next call is, if a program issued it; 0: nobody said.
thread_local uint64_t nextCall = 0;

} // namespace

void FlightCommunicator::Queue::push(uint64_t number) {
  uint64_t at = pushed_.load(std::memory_order_relaxed);
  if (at - popped_.load(std::memory_order_acquire) == kRoom)
    return;
  numbers_[at % kRoom].store(number, std::memory_order_relaxed);
  pushed_.store(at + 1, std::memory_order_release);
}

uint64_t FlightCommunicator::Queue::pop() {
  uint64_t at = popped_.load(std::memory_order_relaxed);
  if (at == pushed_.load(std::memory_order_acquire))
    return 0;
  uint64_t number = numbers_[at % kRoom].load(std::memory_order_relaxed);
  popped_.store(at + 1, std::memory_order_release);
  return number;
}

FlightCommunicator::FlightCommunicator(Communicator &backend, const Mesh &mesh,
                                       int rank, FlightRing *ring)
    : backend_(backend), mesh_(mesh), rank_(rank), recorder_(ring),
      sends_(static_cast<size_t>(mesh.stages())),
      receives_(static_cast<size_t>(mesh.stages())) {}

void FlightCommunicator::issue(const FlightNote &note, bool atOnce) {
  uint64_t number = recorder_.begin(note, /*starts=*/false);
  if (number == 0)
    return;
  if (atOnce)
    nextCall = number;
  else
    queue_.push(number);
}

void FlightCommunicator::issued(const FlightNote &note) {
  uint64_t number = recorder_.begin(note, /*starts=*/false);
  if (number == 0)
    return;
  bool isCall = note.kind == FlightKind::collective;
  recorder_.start(number, isCall ? ++calls_[note.call.group] : 0);
  underWay_.push_back(number);
}

void FlightCommunicator::completed(uint64_t last) {
  auto ends = [&](uint64_t number) {
    if (number > last)
      return false;
    recorder_.end(number);
    return true;
  };
  std::erase_if(underWay_, ends);
  std::erase_if(open_, [&](const auto &each) { return ends(each.second); });
}

Status FlightCommunicator::collective(const CollectiveCall &call, void *buffer,
                                      SumReader *reader) {
  if (!recorder_.on())
    return backend_.collective(call, buffer, reader);
  uint64_t number = std::exchange(nextCall, 0);
  if (number == 0)
    number = queue_.pop();
  if (number == 0) {
    FlightNote own;
    own.kind = FlightKind::collective;
    own.call = call;
    number = recorder_.begin(own, /*starts=*/false);
  }
  recorder_.start(number, ++calls_[call.group]);
  Status status = backend_.collective(call, buffer, reader);
  if (status.ok())
    recorder_.end(number);
  return status;
}

void FlightCommunicator::note(std::span<const MtcTransfer> transfers) {
  for (const MtcTransfer &t : transfers) {
    FlightNote own;
    own.kind = t.is_send ? FlightKind::send : FlightKind::receive;
    own.peer =
        static_cast<int32_t>(mesh_.moved(rank_, MTC_AXIS_PP, t.peer_stage));
    own.bytes = t.bytes;
    own.sequence =
        ++(t.is_send ? sends_ : receives_)[static_cast<size_t>(t.peer_stage)];
    open_.emplace_back(&t, recorder_.begin(own));
  }
}

void FlightCommunicator::end(std::span<const MtcTransfer> transfers) {
  std::less<> before;
  std::erase_if(open_, [&](const auto &each) {
    bool isOne = !before(each.first, transfers.data()) &&
                 before(each.first, transfers.data() + transfers.size());
    if (isOne)
      recorder_.end(each.second);
    return isOne;
  });
}

Status FlightCommunicator::post(std::span<const MtcTransfer> transfers) {
  if (recorder_.on())
    note(transfers);
  return backend_.post(transfers);
}

Status FlightCommunicator::wait(std::span<const MtcTransfer> transfers) {
  Status status = backend_.wait(transfers);
  if (status.ok())
    end(transfers);
  return status;
}

Status FlightCommunicator::exchange(std::span<const MtcTransfer> transfers) {
  if (recorder_.on())
    note(transfers);
  Status status = backend_.exchange(transfers);
  if (status.ok())
    end(transfers);
  return status;
}

} // namespace mtc::runtime
