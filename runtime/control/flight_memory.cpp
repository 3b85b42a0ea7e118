//===- flight_memory.cpp - where ranks note what they do ------------------===//

#include "runtime/control/flight_memory.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace mtc::runtime {
namespace {

/// Rings begin at pages, so that ranks share none.
constexpr int64_t kStride =
    (static_cast<int64_t>(sizeof(FlightRing)) + 4095) / 4096 * 4096;

} // namespace

FlightMemory::~FlightMemory() {
  if (fd_ >= 0)
    close(fd_);
}

void FlightMemory::swap(FlightMemory &other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(mapping_, other.mapping_);
}

Status FlightMemory::create(int64_t ranks, FlightMemory &out) {
  FlightMemory made;
  made.fd_ = memfd_create("mtc:flight", 0);
  if (made.fd_ < 0 || ftruncate(made.fd_, ranks * kStride) != 0)
    return {StatusCode::infeasible,
            fmt::format("cannot create {} bytes of shared memory for what "
                        "ranks note: {}; check free memory, `ulimit -n` and "
                        "`ulimit -f`",
                        ranks * kStride, std::strerror(errno))};
  MTC_RETURN_IF_ERROR(
      comm::Mapping::map(made.fd_, ranks * kStride, made.mapping_));
  out = std::move(made);
  return Status::okay();
}

Status FlightMemory::attach(int rank, FlightMemory &out) {
  const char *text = std::getenv(kFlightVariable);
  if (!text)
    return Status::okay();
  int fd = -1;
  const char *end = text + std::strlen(text);
  struct stat file = {};
  if (std::from_chars(text, end, fd).ptr != end || fd < 0 ||
      fstat(fd, &file) != 0 || file.st_size < (rank + 1) * kStride)
    return {StatusCode::usage,
            fmt::format("expected the number of a file descriptor in {}, found "
                        "'{}'; start ranks with the launcher",
                        kFlightVariable, text)};
  return comm::Mapping::map(fd, file.st_size, out.mapping_);
}

Status FlightMemory::open(int owner, int descriptor, int64_t ranks,
                          FlightMemory &out) {
  return comm::Mapping::mapOf(owner, descriptor, ranks * kStride, 0,
                              out.mapping_);
}

std::string FlightMemory::environment() const {
  return fmt::format("{}={}", kFlightVariable, fd_);
}

FlightRing *FlightMemory::ring(int64_t rank) const {
  if (!mapping_.base())
    return nullptr;
  return reinterpret_cast<FlightRing *>(static_cast<char *>(mapping_.base()) +
                                        rank * kStride);
}

} // namespace mtc::runtime
