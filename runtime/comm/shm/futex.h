//===- futex.h - waiting for a word in shared memory ------------*- C++ -*-===//
#ifndef MTC_RUNTIME_COMM_SHM_FUTEX_H
#define MTC_RUNTIME_COMM_SHM_FUTEX_H

#include <atomic>
#include <cstdint>

namespace mtc::runtime::comm {

/// A word that some change and others wait for, in memory shared by processes.
/// All zero is its initial state.
struct SharedEvent {
  std::atomic<uint32_t> value;
  std::atomic<uint32_t> sleepers;
};

/// How often a waiter looks at the abort word even if nobody wakes it: the
/// bound on noticing an abort whose wake came just before the sleep.
inline constexpr int kLookMilliseconds = 100;

/// Adds one and wakes all sleepers; what was stored before is visible to who
/// sees the new value. Async-signal-safe.
void signalEvent(SharedEvent &event);

/// Wakes all sleepers, changing nothing. Async-signal-safe.
void wakeSleepers(SharedEvent &event);

/// Returns when the value differs from `seen`, or `abortWord` is not 0, or
/// after kLookMilliseconds, or for no reason. Looks `spin` times before it
/// sleeps.
void waitForEvent(SharedEvent &event, uint32_t seen,
                  const std::atomic<uint32_t> &abortWord, int spin);

} // namespace mtc::runtime::comm
#endif // MTC_RUNTIME_COMM_SHM_FUTEX_H
