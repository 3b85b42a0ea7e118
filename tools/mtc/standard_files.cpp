//===- standard_files.cpp - descriptors 0 to 2 are taken ------------------===//

#include "tools/mtc/standard_files.h"

#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace mtc::tool {

void holdStandardFiles() {
  // The lowest free number is given first, so three opens reach the last one.
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (fcntl(fd, F_GETFD) < 0)
      (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void lineToStderr(const std::string &line) {
  std::fprintf(stderr, "%s\n", line.c_str());
}

} // namespace mtc::tool
