//===- arena.h - the memory of one rank on the CPU --------------*- C++ -*-===//
//
// Each rank has one arena per kind, mapped once at start with exactly the size
// of the plan. With the shm backend the communicator maps them (peers read them
// in place); otherwise they are named anonymous mappings, made here, which show
// up as "[anon:mtc rank 3 params]" in /proc/PID/maps where the kernel can.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_DEVICE_CPU_ARENA_H
#define MTC_RUNTIME_DEVICE_CPU_ARENA_H

#include "runtime/base/status.h"
#include "runtime/device/arena.h"

namespace mtc::runtime {

/// Private, zeroed memory of one rank; unmapped by the destructor.
class AnonymousArenas {
public:
  AnonymousArenas() = default;
  AnonymousArenas(const AnonymousArenas &) = delete;
  AnonymousArenas &operator=(const AnonymousArenas &) = delete;
  ~AnonymousArenas();

  /// Maps `bytes[k]` bytes (multiples of 4096) for each kind; an empty arena
  /// has no memory. Errors: infeasible, naming the arena and its size.
  Status map(const ArenaSizes &bytes, int rank);
  const ArenaViews &views() const { return views_; }

private:
  ArenaViews views_{};
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DEVICE_CPU_ARENA_H
