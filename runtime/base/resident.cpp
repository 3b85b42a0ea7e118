//===- resident.cpp - the memory that a process has -----------------------===//

#include "runtime/base/resident.h"

#include <atomic>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <unistd.h>

namespace mtc::runtime {

namespace {

std::atomic<int> gFile{-1};

/// Of another process, which keeps its own. Runs behind a fork: only what is
/// safe there.
void forgetFile() {
  if (int fd = gFile.exchange(-1); fd >= 0)
    close(fd);
}

/// The file of this process. It is read in every step, so that it stays open.
int openedFile() {
  if (int fd = gFile.load(std::memory_order_acquire); fd >= 0)
    return fd;
  static std::mutex lock;
  std::lock_guard held(lock);
  static const bool forgotten [[maybe_unused]] =
      pthread_atfork(nullptr, nullptr, forgetFile) == 0;
  if (gFile < 0)
    gFile = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  return gFile;
}

} // namespace

int64_t residentBytes() {
  int fd = openedFile();
  if (fd < 0)
    return 0;
  char text[256];
  ssize_t size = pread(fd, text, sizeof text, 0);
  if (size <= 0)
    return 0;
  // "size resident shared ...", in pages.
  const char *end = text + size;
  const char *blank = static_cast<const char *>(
      std::memchr(text, ' ', static_cast<size_t>(size)));
  int64_t pages = 0;
  if (!blank || std::from_chars(blank + 1, end, pages).ec != std::errc())
    return 0;
  return pages * sysconf(_SC_PAGESIZE);
}

} // namespace mtc::runtime
