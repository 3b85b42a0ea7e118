//===- mapping.cpp - a mapped range of a file descriptor ------------------===//

#include "runtime/comm/shm/mapping.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace mtc::runtime::comm {

Mapping::Mapping(Mapping &&other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

Mapping &Mapping::operator=(Mapping &&other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (base_)
    munmap(base_, size_t(bytes_));
}

Status Mapping::map(int fd, int64_t bytes, Mapping &out) {
  void *base =
      mmap(nullptr, size_t(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED)
    return errno == ENOMEM
               ? Status(StatusCode::infeasible,
                        fmt::format("cannot map {} bytes of shared memory: {}; "
                                    "check free memory and `ulimit -v`",
                                    bytes, std::strerror(ENOMEM)))
               : Status(StatusCode::failed,
                        fmt::format("cannot map {} bytes of file descriptor "
                                    "{}: {}; does the launcher pass it on",
                                    bytes, fd, std::strerror(errno)));
  Mapping mapping;
  mapping.base_ = base;
  mapping.bytes_ = bytes;
  out = std::move(mapping);
  return Status::okay();
}

Status Mapping::mapOf(int owner, int fd, int64_t bytes, Mapping &out) {
  if (owner == 0)
    return map(fd, bytes, out);
  std::string path = fmt::format("/proc/{}/fd/{}", owner, fd);
  int opened = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (opened < 0)
    return {StatusCode::failed,
            fmt::format("cannot open shared memory by {}: {}", path,
                        std::strerror(errno))};
  Status status = map(opened, bytes, out);
  close(opened);
  return status;
}

} // namespace mtc::runtime::comm
