//===- work_keeper.h - work that is issued again as a whole -----*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_WORK_KEEPER_H
#define MTC_RUNTIME_DEVICE_WORK_KEEPER_H

#include "runtime/base/status.h"
#include "runtime/device/arena.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace mtc::runtime {

/// Keeps what is issued to the queues of a device between `begin` and `end`,
/// which does not run, to issue it later, as often as one likes, by one call:
/// with the same addresses and numbers, but what then lies at these addresses.
/// It stands where it is issued: behind all that was issued before, in front of
/// all that comes later. Of one rank, and used by its thread.
class WorkKeeper {
public:
  /// What was kept. Goes before the keeper, and not while it runs.
  class Work {
  public:
    virtual ~Work() = default;
  };

  virtual ~WorkKeeper() = default;

  /// Errors of these: those of the device's queues, which keep the first one.
  virtual Status begin() = 0;
  /// Whether what was issued since `begin` is as much as one work is to have;
  /// what comes next then belongs into another one, behind this.
  virtual bool isFull() = 0;
  /// How much that is, in operations of the device.
  virtual int64_t room() const = 0;
  /// Also behind a failure, which it returns.
  virtual Status end(std::unique_ptr<Work> &out) = 0;
  virtual Status issue(Work &work) = 0;

  /// `bytes` bytes of the host that the device's stream copies from and to
  /// without holding up who issues that: they are its own until an event behind
  /// the copy. They live as long as the keeper. Errors: infeasible, without
  /// memory.
  virtual Status hostMemory(int64_t bytes, std::byte *&out) = 0;
  /// `bytes` bytes of the device beside the arenas, for what changes between
  /// two issues of a work. They live as long as the keeper. Errors: infeasible,
  /// without memory.
  virtual Status deviceMemory(int64_t bytes, void *&out) = 0;
  /// Issues a copy of `hostMemory` to `deviceMemory`.
  virtual Status send(void *to, const std::byte *from, int64_t bytes) = 0;
  /// Issues a copy of `deviceMemory` or of an arena to an arena, which may be
  /// kept. Errors: as Stream::copyIn.
  virtual Status take(ArenaOffset to, const void *from, int64_t bytes) = 0;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DEVICE_WORK_KEEPER_H
