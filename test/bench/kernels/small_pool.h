//===- small_pool.h - a team of threads of its own --------------*- C++ -*-===//
//
// What mtc could have in place of libgomp's threads: as little as a call on all
// threads needs. Only bench_team has it.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_BENCH_KERNELS_SMALL_POOL_H
#define MTC_TEST_BENCH_KERNELS_SMALL_POOL_H

#include "mtc/runtime/abi.h"

#include <atomic>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace mtc::bench {

/// A number that grows, and for which threads wait: so many looks at it with a
/// pause behind each, as libgomp does, then they sleep.
class alignas(64) Turn {
public:
  uint32_t now() const { return number.load(std::memory_order_acquire); }

  void waitWhile(uint32_t old, int64_t spins) {
    for (int64_t i = 0; i < spins; ++i) {
      if (now() != old)
        return;
      __builtin_ia32_pause();
    }
    // In one order with what next() does: it sees who sleeps, or this sees the
    // new number.
    ++sleepers;
    while (number.load() == old)
      futex(FUTEX_WAIT_PRIVATE, old);
    --sleepers;
  }

  void next() {
    ++number;
    if (sleepers.load())
      futex(FUTEX_WAKE_PRIVATE, INT32_MAX);
  }

private:
  void futex(int what, uint32_t value) {
    static_assert(sizeof(number) == sizeof(uint32_t));
    (void)syscall(SYS_futex, &number, what, value, nullptr, nullptr, 0);
  }

  std::atomic<uint32_t> number{0};
  std::atomic<int32_t> sleepers{0};
};

class SmallPool {
public:
  SmallPool(int64_t threads, int64_t spins) : threads(threads), spins(spins) {
    for (int64_t part = 1; part < threads; ++part)
      others.emplace_back([this, part] { serve(part); });
  }

  ~SmallPool() {
    run(nullptr, nullptr);
    for (std::thread &other : others)
      other.join();
  }

  /// As mtc::runtime::onTeam; without work the threads end.
  void run(MtcPart call, void *with) {
    if (call && threads == 1)
      return call(with, 0, 1);
    work = call;
    argument = with;
    left.store(uint32_t(threads - 1), std::memory_order_relaxed);
    uint32_t before = done.now();
    begun.next();
    if (!work)
      return;
    work(argument, 0, threads);
    done.waitWhile(before, spins);
  }

  /// As mtc::runtime::teamMeets.
  void meet() {
    uint32_t before = met.now();
    if (threads == 1)
      return;
    if (came.fetch_add(1) + 1 < threads)
      return met.waitWhile(before, spins);
    came.store(0, std::memory_order_relaxed);
    met.next();
  }

  const int64_t threads, spins;

private:
  void serve(int64_t part) {
    for (uint32_t seen = 0;; ++seen) {
      begun.waitWhile(seen, spins);
      if (!work)
        return;
      work(argument, part, threads);
      if (left.fetch_sub(1) == 1)
        done.next();
    }
  }

  MtcPart work = nullptr;
  void *argument = nullptr;
  Turn begun, done, met;
  alignas(64) std::atomic<uint32_t> left{0};
  alignas(64) std::atomic<int64_t> came{0};
  std::vector<std::thread> others;
};

} // namespace mtc::bench

#endif // MTC_TEST_BENCH_KERNELS_SMALL_POOL_H
