//===- grow_file.cpp - a file that grows when it is opened ----------------===//
//
// Preloaded: the file that MTC_GROW names grows by the text MTC_GROW_BY before
// its opening of number MTC_GROW_AT, from 1.
//
//===----------------------------------------------------------------------===//

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>

namespace {

void grow(const char *path) {
  static int openings = 0;
  const char *grows = std::getenv("MTC_GROW");
  if (!grows || std::strcmp(grows, path) != 0 ||
      ++openings != std::atoi(std::getenv("MTC_GROW_AT")))
    return;
  if (std::FILE *file = std::fopen(path, "a")) {
    std::fputs(std::getenv("MTC_GROW_BY"), file);
    std::fclose(file);
  }
}

int openAs(const char *name, const char *path, int flags, va_list rest) {
  using Open = int (*)(const char *, int, ...);
  grow(path);
  return reinterpret_cast<Open>(dlsym(RTLD_NEXT, name))(
      path, flags, flags & O_CREAT ? va_arg(rest, int) : 0);
}

} // namespace

#define MTC_OPEN(name)                                                         \
  extern "C" __attribute__((visibility("default"))) int name(const char *path, \
                                                             int flags, ...) { \
    va_list rest;                                                              \
    va_start(rest, flags);                                                     \
    int fd = openAs(#name, path, flags, rest);                                 \
    va_end(rest);                                                              \
    return fd;                                                                 \
  }

MTC_OPEN(open)
MTC_OPEN(open64)
