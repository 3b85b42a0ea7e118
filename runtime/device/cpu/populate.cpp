//===- populate.cpp - pages of arenas, ahead of their use -----------------===//

#include "runtime/device/cpu/populate.h"

#include "runtime/kernels/cpu/team.h"

#include <algorithm>
#include <atomic>
#include <sys/mman.h>
#include <vector>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

namespace mtc::runtime {
namespace {

/// What one call asks for: some milliseconds of work, with small pages some
/// ten.
constexpr int64_t kRangeBytes = 64 << 20;

/// Of processors of x86-64.
constexpr int64_t kHugePage = 2 << 20;

struct PageRange {
  char *base;
  int64_t bytes;
  char *end; ///< of its arena
};

std::vector<PageRange> rangesOf(const ArenaViews &arenas) {
  std::vector<PageRange> ranges;
  for (const ArenaView &arena : arenas) {
    auto *base = static_cast<char *>(arena.base);
    for (int64_t at = 0; at < arena.bytes; at += kRangeBytes)
      ranges.push_back({base + at, std::min(kRangeBytes, arena.bytes - at),
                        base + arena.bytes});
  }
  return ranges;
}

/// Makes huge pages of what begins in the range; false where the kernel makes
/// none (it is older than Linux 6.1, or has none free). Memory that processes
/// share has small ones else, unless the host's administrator said otherwise.
/// Of a block that has one small page already the kernel makes a huge one, with
/// zeros in the rest of it; of one that has none it does not. It waits for all
/// cores in each call, so there is one call.
bool collapse(const PageRange &range) {
  int64_t before = -reinterpret_cast<intptr_t>(range.base) & (kHugePage - 1);
  char *first = range.base + before, *behind = first;
  for (; behind < range.base + range.bytes && range.end - behind >= kHugePage;
       behind += kHugePage)
    __atomic_fetch_or(behind, 0, __ATOMIC_RELAXED);
  return behind == first ||
         madvise(first, size_t(behind - first), MADV_COLLAPSE) == 0;
}

} // namespace

void populate(const ArenaViews &arenas, int64_t threads,
              const PopulateProgress &done) {
  std::vector<PageRange> ranges = rangesOf(arenas);
  auto count = static_cast<int64_t>(ranges.size());
  int64_t all = 0;
  for (const PageRange &range : ranges)
    all += range.bytes;
  std::atomic<int64_t> sum = 0;
  onTeam(threads, [&](int64_t part, int64_t parts) {
    Part own = partOf(count, part, parts);
    bool collapses = true;
    for (int64_t i = own.begin; i < own.end; ++i) {
      collapses = collapses && collapse(ranges[i]);
      if (madvise(ranges[i].base, static_cast<size_t>(ranges[i].bytes),
                  MADV_POPULATE_WRITE) != 0)
        return;
      int64_t now = sum += ranges[i].bytes;
      if (part == 0 && done)
        done(now, all);
    }
  });
}

} // namespace mtc::runtime
