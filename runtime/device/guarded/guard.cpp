//===- guard.cpp - arenas that the host cannot touch ----------------------===//

#include "runtime/device/guarded/guard.h"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace mtc::runtime {
namespace {

/// What the handler reads: plain memory, with the text made beforehand.
struct Watched {
  std::atomic<uintptr_t> begin{0}; ///< 0: free
  uintptr_t end = 0;
  char text[256] = {};
};

constexpr int kWatched = 1024; // arenas of all ranks of a process
Watched watched[kWatched];
std::mutex watchedLock;

void sayWhere(int, siginfo_t *info, void *) {
  auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Watched &arena : watched) {
    uintptr_t begin = arena.begin.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address >= arena.end)
      continue;
    ssize_t ignored = write(STDERR_FILENO, arena.text, strlen(arena.text));
    (void)ignored;
  }
  // Returning runs into the same fault, which then ends the process.
  signal(SIGSEGV, SIG_DFL);
}

void installHandler() {
  struct sigaction action = {};
  action.sa_sigaction = sayWhere;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
}

/// False if there is no room.
bool add(const ArenaView &view, std::string_view name, int rank) {
  std::lock_guard lock(watchedLock);
  for (Watched &arena : watched) {
    if (arena.begin.load() != 0)
      continue;
    auto end = fmt::format_to_n(
        arena.text, sizeof arena.text - 1,
        "error: the host touched the arena {} of rank {} while no fragment, "
        "copy or collective ran; reach it by Stream::copyIn and copyOut "
        "(runtime/device/device.h)\n",
        name, rank);
    *end.out = 0;
    auto begin = reinterpret_cast<uintptr_t>(view.base);
    arena.end = begin + static_cast<uintptr_t>(view.bytes);
    arena.begin.store(begin, std::memory_order_release);
    return true;
  }
  return false;
}

void remove(const ArenaView &view) {
  std::lock_guard lock(watchedLock);
  for (Watched &arena : watched)
    if (arena.begin.load() == reinterpret_cast<uintptr_t>(view.base))
      arena.begin.store(0);
}

} // namespace

Status ArenaGuard::protect(int access) {
  for (const ArenaView &view : arenas_)
    if (view.base &&
        mprotect(view.base, static_cast<size_t>(view.bytes), access) != 0)
      return {StatusCode::failed,
              fmt::format("cannot change the access to an arena: {}",
                          std::strerror(errno))};
  return Status::okay();
}

Status ArenaGuard::watch(const ArenaViews &arenas, int rank) {
  static std::once_flag once;
  std::call_once(once, installHandler);
  for (const ArenaInfo &arena : kArenas) {
    const ArenaView &view = arenas[arena.id];
    if (!view.base)
      continue;
    if (!add(view, arena.name, rank))
      return {StatusCode::infeasible,
              fmt::format("the guarded device watches at most {} arenas of one "
                          "process; use --comm shm or fewer ranks",
                          kWatched)};
    arenas_[arena.id] = view;
  }
  return protect(PROT_NONE);
}

Status ArenaGuard::open() {
  return depth_++ == 0 ? protect(PROT_READ | PROT_WRITE) : Status::okay();
}

Status ArenaGuard::close() {
  return --depth_ == 0 ? protect(PROT_NONE) : Status::okay();
}

ArenaGuard::~ArenaGuard() {
  for (const ArenaView &view : arenas_)
    if (view.base)
      remove(view);
  (void)protect(PROT_READ | PROT_WRITE);
}

} // namespace mtc::runtime
