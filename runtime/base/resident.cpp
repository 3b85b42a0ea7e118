//===- resident.cpp - the memory that a process has -----------------------===//

#include "runtime/base/resident.h"

#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace mtc::runtime {

int64_t residentBytes() {
  int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return 0;
  char text[256];
  ssize_t size = read(fd, text, sizeof text);
  close(fd);
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
