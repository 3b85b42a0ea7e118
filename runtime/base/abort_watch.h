//===- abort_watch.h - a library gives up, and why --------------*- C++ -*-===//
//
// A library that moves data may end the process by abort() when the peer that
// it talks to is gone, and knows not more than that a call of its failed. This
// process hears by another way who died, perhaps a moment later. So the thread
// that aborts waits in the handler of SIGABRT until that is known.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_BASE_ABORT_WATCH_H
#define MTC_RUNTIME_BASE_ABORT_WATCH_H

#include "runtime/base/status.h"

#include <functional>
#include <optional>
#include <string>
#include <thread>

namespace mtc::runtime {

/// What a process that aborts ends with in place of that.
struct LastWords {
  std::string text; ///< "error: ...", a line
  StatusCode code = StatusCode::failed;
};

/// Of this process, at most one at a time.
class AbortWatch {
public:
  /// Why the process ends, if it is not by a fault of its own. Called once, on
  /// a thread of its own, when a thread aborts; takes seconds at most.
  using Explain = std::function<std::optional<Status>()>;

  explicit AbortWatch(Explain explain);
  /// Once a thread aborts for a reason that is known, this waits for the end of
  /// the process: it has one last message.
  ~AbortWatch();
  AbortWatch(const AbortWatch &) = delete;
  AbortWatch &operator=(const AbortWatch &) = delete;

  /// For a handler of SIGABRT, and safe there: waits for an explanation, and
  /// returns it; it stays. Null: there is none, or nobody watches. Ten seconds
  /// at most.
  static const LastWords *await();

private:
  void watch(const Explain &explain);
  LastWords words_;
  std::thread thread_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_ABORT_WATCH_H
