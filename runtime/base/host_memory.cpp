//===- host_memory.cpp - memory of the host that has a name ---------------===//

#include "runtime/base/host_memory.h"

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

HostMemory::~HostMemory() {
  if (base_)
    munmap(base_, static_cast<size_t>(bytes_));
}

void HostMemory::swap(HostMemory &other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
}

Status HostMemory::map(int64_t bytes, const std::string &name,
                       HostMemory &out) {
  HostMemory made;
  if (bytes > 0) {
    void *base =
        mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (base == MAP_FAILED)
      return {StatusCode::infeasible,
              fmt::format("cannot map {} bytes for the {}: {}; check free "
                          "memory and `ulimit -v`",
                          bytes, name, std::strerror(errno))};
    made.base_ = base;
    made.bytes_ = bytes;
    // Old kernels do not know the request; the name is a convenience only.
    (void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, base,
                static_cast<unsigned long>(bytes), ("mtc " + name).c_str());
  }
  out = std::move(made);
  return Status::okay();
}

} // namespace mtc::runtime
