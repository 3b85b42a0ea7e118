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

namespace {

// Processors of AMD find the way of a line in the level-1 cache by a hash of
// the address: bit 12 + i with bit 27 - i, of i < 8 (Lipp et al., "Take A Way",
// 2020). Of two lines with one hash and one set only one can stay, and a sum of
// two such buffers takes twice the time (measured on Zen 4). Mappings of equal
// size one below the other are such where the size is a multiple of 256 MiB,
// and others by chance. Bits 12 to 20 equal and 21 to 27 not: never; and bases
// that are multiples of 2 MiB may have huge pages.
constexpr int64_t kStep = int64_t{2} << 20;
constexpr int64_t kPeriod = kStep * Mapping::kPlaces;

/// Address space that nobody uses.
class Room {
public:
  explicit Room(int64_t bytes)
      : base_(mmap(nullptr, size_t(bytes), PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
        bytes_(bytes) {}
  bool ok() const { return base_ != MAP_FAILED; }
  /// The first address in it of this place.
  char *at(int place) const {
    auto first = reinterpret_cast<uintptr_t>(base_);
    uintptr_t want = uintptr_t(place % Mapping::kPlaces) * uintptr_t(kStep);
    return static_cast<char *>(base_) +
           ((want - first) & (uintptr_t(kPeriod) - 1));
  }
  /// Gives back all but [kept, kept + bytes).
  void keep(char *kept, int64_t bytes) const {
    auto *first = static_cast<char *>(base_);
    int64_t page = sysconf(_SC_PAGESIZE);
    char *behind = kept + (bytes + page - 1) / page * page;
    if (kept > first)
      munmap(first, size_t(kept - first));
    if (first + bytes_ > behind)
      munmap(behind, size_t(first + bytes_ - behind));
  }

private:
  void *base_;
  int64_t bytes_;
};

} // namespace

Status Mapping::map(int fd, int64_t bytes, Mapping &out) {
  return mapAt(nullptr, fd, bytes, out);
}

/// In place of what is mapped at `address`, if that is not null.
Status Mapping::mapAt(void *address, int fd, int64_t bytes, Mapping &out) {
  void *base = mmap(address, size_t(bytes), PROT_READ | PROT_WRITE,
                    MAP_SHARED | (address ? MAP_FIXED : 0), fd, 0);
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

Status Mapping::mapPlaced(int fd, int64_t bytes, int place, Mapping &out) {
  Room room(bytes + kPeriod);
  if (!room.ok())
    return map(fd, bytes, out);
  char *base = room.at(place);
  Status status = mapAt(base, fd, bytes, out);
  room.keep(base, status.ok() ? bytes : 0);
  return status;
}

Status Mapping::mapOf(int owner, int fd, int64_t bytes, int place,
                      Mapping &out) {
  if (owner == 0)
    return mapPlaced(fd, bytes, place, out);
  std::string path = fmt::format("/proc/{}/fd/{}", owner, fd);
  int opened = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (opened < 0)
    return {StatusCode::failed,
            fmt::format("cannot open shared memory by {}: {}", path,
                        std::strerror(errno))};
  Status status = mapPlaced(opened, bytes, place, out);
  close(opened);
  return status;
}

} // namespace mtc::runtime::comm
