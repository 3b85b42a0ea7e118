//===- futex.cpp - waiting for a word in shared memory --------------------===//

#include "runtime/comm/shm/futex.h"

#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mtc::runtime::comm {

static_assert(sizeof(std::atomic<uint32_t>) == 4 &&
              std::atomic<uint32_t>::is_always_lock_free);

static void pause() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

void wakeSleepers(SharedEvent &event) {
  syscall(SYS_futex, &event.value, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void signalEvent(SharedEvent &event) {
  // Sequentially consistent, as is the waiter's pair: either this sees the
  // sleeper or the sleeper sees the new value.
  event.value.fetch_add(1);
  if (event.sleepers.load() != 0)
    wakeSleepers(event);
}

void waitForEvent(SharedEvent &event, uint32_t seen,
                  const std::atomic<uint32_t> &abortWord, int spin) {
  for (int i = 0; i < spin; ++i) {
    if (event.value.load(std::memory_order_acquire) != seen)
      return;
    pause();
  }
  event.sleepers.fetch_add(1);
  if (event.value.load() == seen && abortWord.load() == 0) {
    timespec limit{0, kLookMilliseconds * 1000000L};
    syscall(SYS_futex, &event.value, FUTEX_WAIT, seen, &limit, nullptr, 0);
  }
  event.sleepers.fetch_sub(1);
}

} // namespace mtc::runtime::comm
