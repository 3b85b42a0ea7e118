//===- resident.cpp - the memory that a process has -----------------------===//

#include "runtime/base/resident.h"

#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <unistd.h>

namespace mtc::runtime {

/// The file of this process. It is read in every step, so that it stays open;
/// one that was opened before a fork is another process's.
static int openedFile() {
  static std::mutex lock;
  static int fd = -1;
  static pid_t owner = -1;
  std::lock_guard held(lock);
  if (owner != getpid()) {
    if (fd >= 0)
      close(fd);
    fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    owner = getpid();
  }
  return fd;
}

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
