//===- arena.h - the memory of one rank on the CPU --------------*- C++ -*-===//
//
// Each rank has one arena per kind, mapped once at start with exactly the size
// of the plan. With the shm backend the communicator maps them (peers read them
// in place), unless the rank is alone; else they are named anonymous mappings,
// made here, which show
// up as "[anon:mtc rank 3 params]" in /proc/PID/maps and consist of huge pages
// where the kernel can: products read rows that lie pages apart.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_DEVICE_CPU_ARENA_H
#define MTC_RUNTIME_DEVICE_CPU_ARENA_H

#include "runtime/base/status.h"
#include "runtime/device/arena.h"

#include <array>
#include <string_view>

namespace mtc::runtime {

/// Private, zeroed memory; unmapped by the destructor.
class AnonymousMemory {
public:
  AnonymousMemory() = default;
  AnonymousMemory(const AnonymousMemory &) = delete;
  AnonymousMemory &operator=(const AnonymousMemory &) = delete;
  ~AnonymousMemory();

  /// Maps `bytes` bytes, in place of what it had; none for 0. It is named
  /// "mtc rank <rank> <name>". Errors: infeasible, with `rank`, what it is,
  /// "arena grads", and the size.
  Status map(int64_t bytes, int rank, std::string_view name,
             std::string_view what);
  void *base() const { return base_; } ///< 4096-aligned, or null

private:
  void *base_ = nullptr;
  int64_t bytes_ = 0;
};

/// The arenas of one rank.
class AnonymousArenas {
public:
  /// Maps `bytes[k]` bytes (multiples of 4096) for each kind; an empty arena
  /// has no memory. Errors: infeasible, naming the arena and its size.
  Status map(const ArenaSizes &bytes, int rank);
  const ArenaViews &views() const { return views_; }

private:
  std::array<AnonymousMemory, MTC_ARENA_COUNT> memory_;
  ArenaViews views_{};
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DEVICE_CPU_ARENA_H
