//===- arena.cpp - the memory of one rank on the CPU ----------------------===//

#include "runtime/device/cpu/arena.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <utility>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

namespace mtc::runtime {

static void unmap(void *base, int64_t bytes) {
  if (base)
    munmap(base, static_cast<size_t>(bytes));
}

AnonymousMemory::~AnonymousMemory() { unmap(base_, bytes_); }

Status AnonymousMemory::map(int64_t bytes, int rank, std::string_view name,
                            std::string_view what) {
  unmap(std::exchange(base_, nullptr), bytes_);
  if (bytes == 0)
    return Status::okay();
  void *base = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED)
    return {StatusCode::infeasible,
            fmt::format("rank {}: cannot map {} bytes for {}: {}; check free "
                        "memory and `ulimit -v`",
                        rank, bytes, what, std::strerror(errno))};
  // Old kernels do not know the request; the name is a convenience only.
  std::string label = fmt::format("mtc rank {} {}", rank, name);
  (void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, base, bytes, label.c_str());
  // Where the kernel has none at hand, or none at all, pages are small.
  (void)madvise(base, static_cast<size_t>(bytes), MADV_HUGEPAGE);
  base_ = base;
  bytes_ = bytes;
  return Status::okay();
}

Status AnonymousArenas::map(const ArenaSizes &bytes, int rank) {
  for (int kind = 0; kind < MTC_ARENA_COUNT; ++kind) {
    AnonymousMemory &memory = memory_[kind];
    std::string_view name = kArenas[kind].name;
    MTC_RETURN_IF_ERROR(
        memory.map(bytes[kind], rank, name, fmt::format("arena {}", name)));
    if (memory.base())
      views_[kind] = {memory.base(), bytes[kind]};
  }
  return Status::okay();
}

} // namespace mtc::runtime
