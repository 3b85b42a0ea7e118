//===- log_file.cpp - the file of a run's log -----------------------------===//

#include "runtime/control/log_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mtc::runtime {
namespace {

Status writeError(const std::string &path, int error) {
  return {StatusCode::writeFailed,
          fmt::format("cannot write log '{}': {}", path, std::strerror(error))};
}

/// Gives the file another name, which no file has. link fails where rename
/// would replace.
Status keep(const std::string &path) {
  for (int number = 1;; ++number) {
    std::string name = fmt::format("{}.{}", path, number);
    if (link(path.c_str(), name.c_str()) == 0) {
      if (unlink(path.c_str()) != 0)
        return writeError(path, errno);
      std::fprintf(stderr, "log '%s' is there already: kept as '%s'\n",
                   path.c_str(), name.c_str());
      return Status::okay();
    }
    if (errno != EEXIST)
      return {StatusCode::writeFailed,
              fmt::format("cannot keep log '{}' as '{}': {}; give --append or "
                          "another name",
                          path, name, std::strerror(errno))};
  }
}

/// The bytes of whole lines of a file of `size` bytes.
int64_t wholeLines(int fd, int64_t size) {
  char last;
  while (size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n')
    --size;
  return size;
}

Status continueAt(int fd, int64_t size, const std::string &path) {
  int64_t whole = wholeLines(fd, size);
  if (whole < size) {
    if (ftruncate(fd, whole) != 0)
      return writeError(path, errno);
    std::fprintf(stderr, "log '%s': half a line at its end was removed\n",
                 path.c_str());
  }
  return lseek(fd, whole, SEEK_SET) == whole ? Status::okay()
                                             : writeError(path, errno);
}

} // namespace

LogFile::~LogFile() {
  if (fd_ >= 0 && fd_ != lock_.fd())
    close(fd_);
}

Status LogFile::open(const std::string &path, bool append) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode))
    return openRegular(path, append);
  fd_ = ::open(path.c_str(), O_WRONLY);
  return fd_ >= 0 ? Status::okay() : writeError(path, errno);
}

Status LogFile::openRegular(const std::string &path, bool append) {
  MTC_RETURN_IF_ERROR(FileLock::take(path, path, lock_));
  struct stat info;
  if (fstat(lock_.fd(), &info) != 0)
    return writeError(path, errno);
  if (append) {
    MTC_RETURN_IF_ERROR(continueAt(lock_.fd(), info.st_size, path));
  } else if (info.st_size > 0) {
    MTC_RETURN_IF_ERROR(keep(path));
    MTC_RETURN_IF_ERROR(FileLock::take(path, path, lock_));
  }
  fd_ = lock_.fd();
  // Ranks inherit it itself: closing a copy of it would end the lock.
  (void)fcntl(fd_, F_SETFD, 0);
  return Status::okay();
}

} // namespace mtc::runtime
