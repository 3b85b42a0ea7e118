//===- ring.cpp - the last operations of a rank ---------------------------===//

#include "runtime/flight/ring.h"

#include "runtime/base/trace_time.h"

#include <algorithm>
#include <type_traits>

namespace mtc::runtime {

static_assert(std::is_trivially_copyable_v<FlightNote>); // between processes
static_assert(std::atomic<uint64_t>::is_always_lock_free);

std::vector<FlightOperation> readRing(const FlightRing &ring) {
  std::vector<FlightOperation> found;
  for (const FlightEntry &entry : ring.entries) {
    FlightOperation read;
    read.number = entry.number.load(std::memory_order_acquire);
    if (read.number == 0)
      continue;
    read.note = entry.note;
    read.started = entry.started.load();
    read.completed = entry.completed.load();
    std::atomic_thread_fence(std::memory_order_acquire);
    if (entry.number.load(std::memory_order_relaxed) == read.number)
      found.push_back(read);
  }
  std::ranges::sort(found, {}, &FlightOperation::number);
  return found;
}

uint64_t FlightRecorder::begin(FlightNote note, bool starts) {
  if (!ring_)
    return 0;
  note.step = step_.load(std::memory_order_relaxed);
  note.created = traceNow();
  uint64_t number = ring_->count.fetch_add(1, std::memory_order_relaxed) + 1;
  FlightEntry &entry = ring_->at(number);
  entry.number.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  entry.note = note;
  entry.started.store(starts ? note.created : 0, std::memory_order_relaxed);
  entry.completed.store(0, std::memory_order_relaxed);
  entry.number.store(number, std::memory_order_release);
  return number;
}

void FlightRecorder::start(uint64_t number, uint64_t sequence) {
  if (!ring_ || ring_->at(number).number.load() != number)
    return;
  ring_->at(number).note.sequence = sequence;
  ring_->at(number).started.store(traceNow(), std::memory_order_release);
}

void FlightRecorder::end(uint64_t number) {
  if (ring_ && ring_->at(number).number.load() == number)
    ring_->at(number).completed.store(traceNow(), std::memory_order_relaxed);
}

} // namespace mtc::runtime
