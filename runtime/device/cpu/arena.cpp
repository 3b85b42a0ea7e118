//===- arena.cpp - the memory of one rank on the CPU ----------------------===//

#include "runtime/device/cpu/arena.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/prctl.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

namespace mtc::runtime {

AnonymousArenas::~AnonymousArenas() {
  for (ArenaView &view : views_)
    if (view.base)
      munmap(view.base, view.bytes);
}

Status AnonymousArenas::map(const ArenaSizes &bytes, int rank) {
  for (int kind = 0; kind < MTC_ARENA_COUNT; ++kind) {
    if (bytes[kind] == 0)
      continue;
    void *base = mmap(nullptr, bytes[kind], PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
      return {StatusCode::infeasible,
              fmt::format(
                  "rank {}: cannot map {} bytes for arena {}: {}; check "
                  "free memory and `ulimit -v`",
                  rank, bytes[kind], kArenas[kind].name, std::strerror(errno))};
    // Old kernels do not know the request; the name is a convenience only.
    std::string name = fmt::format("mtc rank {} {}", rank, kArenas[kind].name);
    (void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, base, bytes[kind],
                name.c_str());
    views_[kind] = {base, bytes[kind]};
  }
  return Status::okay();
}

} // namespace mtc::runtime
