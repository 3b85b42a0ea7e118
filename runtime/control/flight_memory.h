//===- flight_memory.h - where ranks note what they do ----------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_FLIGHT_MEMORY_H
#define MTC_RUNTIME_CONTROL_FLIGHT_MEMORY_H

#include "runtime/comm/shm/mapping.h"
#include "runtime/flight/ring.h"

#include <string>

namespace mtc::runtime {

/// The environment variable that carries the number of its descriptor.
inline constexpr const char *kFlightVariable = "MTC_FLIGHT_FD";

/// A ring for each rank of a host, in memory without a name in the file system
/// that launcher and ranks share: what a killed rank noted stays.
class FlightMemory {
public:
  FlightMemory() = default;
  FlightMemory(FlightMemory &&other) noexcept { swap(other); }
  FlightMemory &operator=(FlightMemory &&other) noexcept {
    swap(other);
    return *this;
  }
  ~FlightMemory();

  /// By who starts ranks; they inherit the descriptor. Errors: infeasible.
  static Status create(int64_t ranks, FlightMemory &out);
  /// By a rank that was started with `environment()`; without it there is no
  /// ring. Errors: usage, failed.
  static Status attach(int rank, FlightMemory &out);

  /// By another process of the same user on this host: what process `owner`
  /// created for as many ranks as its `descriptor()`. Errors: failed.
  static Status open(int owner, int descriptor, int64_t ranks,
                     FlightMemory &out);
  int descriptor() const { return fd_; }

  /// "MTC_FLIGHT_FD=7".
  std::string environment() const;
  /// Of a rank; null: there is none.
  FlightRing *ring(int64_t rank) const;

private:
  void swap(FlightMemory &other) noexcept;
  int fd_ = -1;
  comm::Mapping mapping_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_FLIGHT_MEMORY_H
