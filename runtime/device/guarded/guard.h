//===- guard.h - arenas that the host cannot touch --------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_GUARDED_GUARD_H
#define MTC_RUNTIME_DEVICE_GUARDED_GUARD_H

#include "runtime/base/status.h"
#include "runtime/device/arena.h"

namespace mtc::runtime {

/// Takes the access to a rank's arenas away but between open and close, which
/// nest. A touch at another time ends the process with SIGSEGV, after a line
/// that names arena and rank. The destructor gives the access back.
class ArenaGuard {
public:
  ArenaGuard() = default;
  ArenaGuard(const ArenaGuard &) = delete;
  ArenaGuard &operator=(const ArenaGuard &) = delete;
  ~ArenaGuard();

  /// Closes the arenas. Errors: failed (mprotect), infeasible (more ranks in
  /// this process than it can watch).
  Status watch(const ArenaViews &arenas, int rank);
  Status open();
  Status close();

private:
  Status protect(int access);

  ArenaViews arenas_{};
  int depth_ = 0;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DEVICE_GUARDED_GUARD_H
