//===- guarded_copy.cpp - a copy from pages that may be gone --------------===//

#include "runtime/base/guarded_copy.h"

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstring>

namespace mtc::runtime {
namespace {

/// Where the copy of this thread goes on when it cannot; null: it makes none.
thread_local sigjmp_buf *volatile tAway = nullptr;

struct sigaction gBefore;

/// As if this handler were not there.
void passOn(int number, siginfo_t *info, void *context) {
  if (gBefore.sa_flags & SA_SIGINFO)
    return gBefore.sa_sigaction(number, info, context);
  bool isSent = info->si_code <= 0; // by somebody, and not for a fault
  if (gBefore.sa_handler == SIG_IGN && isSent)
    return;
  if (gBefore.sa_handler != SIG_DFL && gBefore.sa_handler != SIG_IGN)
    return gBefore.sa_handler(number);
  // A fault comes again, at the same address.
  std::signal(number, SIG_DFL);
  if (isSent)
    std::raise(number);
}

void faulted(int number, siginfo_t *info, void *context) {
  if (sigjmp_buf *away = tAway; away && info->si_code > 0)
    siglongjmp(*away, 1);
  passOn(number, info, context);
}

bool install() {
  struct sigaction action = {};
  action.sa_sigaction = faulted;
  // SA_NODEFER: the jump leaves the handler, and the mask needs no call of the
  // system to come back.
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  return sigaction(SIGBUS, &action, &gBefore) == 0;
}

} // namespace

bool guardCopies() {
  static const bool installed = install();
  return installed;
}

bool guardedCopy(void *out, const void *from, int64_t bytes) {
  sigjmp_buf away;
  if (sigsetjmp(away, /*savemask=*/0) != 0) {
    tAway = nullptr;
    return false;
  }
  tAway = &away;
  std::atomic_signal_fence(std::memory_order_seq_cst); // the copy lies between
  if (bytes > 0)
    std::memcpy(out, from, static_cast<size_t>(bytes));
  std::atomic_signal_fence(std::memory_order_seq_cst);
  tAway = nullptr;
  return true;
}

} // namespace mtc::runtime
