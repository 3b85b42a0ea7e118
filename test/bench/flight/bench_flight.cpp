//===- bench_flight.cpp - what a note of an operation costs ---------------===//
//
// Prints nanoseconds of a note, from its begin to its end: of a row of a
// timeline, and of a collective that a fragment issues (beside a communicator
// that does nothing). The median over repeats of a million.
//
//===----------------------------------------------------------------------===//
#include "runtime/flight/flight_comm.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

using namespace mtc::runtime;

namespace {

constexpr int kRepeats = 11, kNotes = 1000000;

class Nothing final : public Communicator {
public:
  Status collective(const CollectiveCall &, void *, SumReader *) override {
    return {};
  }
  Status post(std::span<const MtcTransfer>) override { return {}; }
  Status wait(std::span<const MtcTransfer>) override { return {}; }
  void abort() override {}
  void finish() override {}
  std::array<int64_t, MTC_GROUP_COUNT + 1> bytesMoved() const override {
    return {};
  }
};

/// Nanoseconds of one call of `work`.
template <typename Work> double nanoseconds(const Work &work) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    Clock::time_point begin = Clock::now();
    for (int i = 0; i < kNotes; ++i)
      work();
    std::chrono::duration<double, std::nano> time = Clock::now() - begin;
    times.push_back(time.count() / kNotes);
  }
  std::nth_element(times.begin(), times.begin() + kRepeats / 2, times.end());
  return times[kRepeats / 2];
}

} // namespace

int main() {
  auto ring = std::make_unique<FlightRing>();
  Nothing nothing;
  FlightCommunicator noting(nothing, Mesh(), 0, ring.get());
  FlightNote note;
  CollectiveCall call;
  double row = nanoseconds([&] {
    uint64_t number = noting.recorder().begin(note);
    noting.recorder().end(number);
  });
  double alone =
      nanoseconds([&] { (void)nothing.collective(call, nullptr, nullptr); });
  note.kind = FlightKind::collective;
  double collective = nanoseconds([&] {
    noting.issue(note, /*atOnce=*/true);
    (void)noting.collective(call, nullptr, nullptr);
  });
  std::printf("{\"row_ns\": %.1f, \"collective_ns\": %.1f}\n", row,
              collective - alone);
}
