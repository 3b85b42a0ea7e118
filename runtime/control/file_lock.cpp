//===- file_lock.cpp - one run at a time writes a file --------------------===//

#include "runtime/control/file_lock.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace mtc::runtime {
namespace {

struct flock wholeFile() {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

Status heldByAnother(const std::string &guarded, int fd) {
  struct flock lock = wholeFile();
  bool known = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  return {StatusCode::usage,
          fmt::format("'{}' is being written by {}; wait for its end, or "
                      "choose another name",
                      guarded,
                      known ? fmt::format("process {}", lock.l_pid)
                            : "another process")};
}

/// False when the name is another file's by now: its holder renamed it.
bool stillNamed(const std::string &path, int fd) {
  struct stat named, open;
  return stat(path.c_str(), &named) == 0 && fstat(fd, &open) == 0 &&
         named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

} // namespace

FileLock::~FileLock() {
  if (fd_ < 0)
    return;
  if (remove_)
    unlink(path_.c_str());
  close(fd_);
}

void FileLock::swap(FileLock &other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(isNew_, other.isNew_);
  std::swap(remove_, other.remove_);
}

Status FileLock::holdEmpty() {
  struct stat info;
  if (fstat(fd_, &info) != 0 || info.st_size > 0)
    return {
        StatusCode::usage,
        fmt::format("'{}': expected no such file, or the empty one of a run "
                    "that was killed, found one with something in it; "
                    "choose another name",
                    path_)};
  remove_ = isNew_;
  return Status::okay();
}

Status FileLock::take(const std::string &path, const std::string &guarded,
                      FileLock &out) {
  for (;;) {
    FileLock file;
    file.path_ = path;
    file.fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    file.isNew_ = file.fd_ >= 0;
    if (!file.isNew_)
      file.fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file.fd_ < 0)
      return {StatusCode::writeFailed,
              fmt::format("cannot write '{}': {}", path, std::strerror(errno))};
    struct flock lock = wholeFile();
    if (fcntl(file.fd_, F_SETLK, &lock) != 0) {
      if (errno == EACCES || errno == EAGAIN)
        return heldByAnother(guarded, file.fd_);
      return {StatusCode::writeFailed,
              fmt::format("cannot lock '{}': {}", path, std::strerror(errno))};
    }
    if (!stillNamed(path, file.fd_))
      continue; // it was renamed or removed between open and lock
    out = std::move(file);
    return Status::okay();
  }
}

Status FileLock::checkFree(const std::string &path,
                           const std::string &guarded) {
  FileLock file;
  // A pipe is not waited for.
  file.fd_ = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct flock lock = wholeFile();
  if (file.fd_ < 0 || fcntl(file.fd_, F_GETLK, &lock) != 0 ||
      lock.l_type == F_UNLCK)
    return Status::okay();
  return heldByAnother(guarded, file.fd_);
}

} // namespace mtc::runtime
