//===- shared.cpp - what the ranks of a communicator share ----------------===//
#include "test/cuda/nccl/shared.h"

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

namespace mtc::standin::nccl {
namespace {

constexpr size_t kPage = 4096;

constexpr size_t roundUp(size_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

constexpr size_t kRankBytes = roundUp(sizeof(RankBlock));
constexpr size_t kChannelBytes = roundUp(sizeof(Channel));
static_assert(sizeof(Head) <= kPage);

/// What a unique id has in it.
struct Id {
  char magic[8];
  int32_t process, descriptor;
  uint64_t born, nonce;
};
constexpr char kMagic[8] = {'m', 't', 'c', 'n', 'c', 'c', 'l', '1'};
static_assert(sizeof(Id) <= sizeof(ncclUniqueId));

Id contentsOf(const ncclUniqueId &id) {
  Id contents;
  std::memcpy(&contents, id.internal, sizeof contents);
  return contents;
}

/// Of the file behind an id, as its name has it.
std::string nameOf(uint64_t nonce) {
  char text[40];
  std::snprintf(text, sizeof text, "mtc-nccl-%016llx",
                static_cast<unsigned long long>(nonce));
  return text;
}

std::string pathOf(const Id &id) {
  return "/proc/" + std::to_string(id.process) + "/fd/" +
         std::to_string(id.descriptor);
}

/// Whether the descriptor is still that of this id.
bool isThere(const Id &id) {
  char target[128] = {};
  return readlink(pathOf(id).c_str(), target, sizeof target - 1) > 0 &&
         std::strstr(target, nameOf(id.nonce).c_str());
}

} // namespace

/// 0: there is no such process, or it has ended and nobody has asked how.
uint64_t bornAt(int process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(file, line))
    return 0;
  // The name, in parentheses, may have anything in it.
  size_t name = line.rfind(')');
  char state = 0;
  unsigned long long born = 0;
  if (name == std::string::npos ||
      std::sscanf(line.c_str() + name + 2,
                  "%c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
                  "%*d %*d %*d %*d %llu",
                  &state, &born) != 2 ||
      state == 'Z' || state == 'X')
    return 0;
  return born;
}

ncclUniqueId Shared::create() {
  std::random_device random;
  Id made{};
  std::memcpy(made.magic, kMagic, sizeof kMagic);
  made.nonce = uint64_t(random()) << 32 | random();
  made.process = getpid();
  made.born = bornAt(made.process);
  made.descriptor = memfd_create(nameOf(made.nonce).c_str(), MFD_CLOEXEC);
  ncclUniqueId id{};
  std::memcpy(id.internal, &made, sizeof made);
  return id;
}

void Shared::forget(const ncclUniqueId &id) {
  Id made = contentsOf(id);
  if (made.process == getpid() && isThere(made))
    close(made.descriptor);
}

std::unique_ptr<Shared> Shared::open(const ncclUniqueId &id, int size,
                                     std::string *why) {
  Id made = contentsOf(id);
  if (std::memcmp(made.magic, kMagic, sizeof kMagic)) {
    *why = "an id that ncclGetUniqueId did not make";
    return nullptr;
  }
  if (bornAt(made.process) != made.born || !isThere(made)) {
    *why = "the process that made the id has ended, or all ranks had come";
    return nullptr;
  }
  int file = ::open(pathOf(made).c_str(), O_RDWR | O_CLOEXEC);
  size_t length =
      kPage + size_t(size) * (kRankBytes + size_t(size) * kChannelBytes);
  // Ranks that disagree on the size see each other's nonetheless.
  struct Closing {
    int file;
    ~Closing() { close(file); }
  } closing{file};
  off_t there = file < 0 ? -1 : lseek(file, 0, SEEK_END);
  if (there < 0 || (size_t(there) < length && ftruncate(file, off_t(length)))) {
    *why = "no shared memory for " + std::to_string(size) + " ranks";
    return nullptr;
  }
  void *bytes =
      mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (bytes == MAP_FAILED) {
    *why = "no address for shared memory";
    return nullptr;
  }
  return std::unique_ptr<Shared>(
      new Shared(static_cast<std::byte *>(bytes), length, size));
}

Shared::~Shared() { munmap(bytes, length); }

RankBlock &Shared::rank(int rank) const {
  return *reinterpret_cast<RankBlock *>(bytes + kPage +
                                        size_t(rank) * kRankBytes);
}

Channel &Shared::channel(int from, int to) const {
  std::byte *first = bytes + kPage + size_t(size) * kRankBytes;
  return *reinterpret_cast<Channel *>(first +
                                      size_t(from * size + to) * kChannelBytes);
}

bool Shared::isAlive(int rank) const {
  const RankBlock &block = this->rank(rank);
  return block.presence == Presence::missing ||
         bornAt(block.process) == block.born;
}

} // namespace mtc::standin::nccl
