//===- hold.cpp - a checkpoint that is read stays -------------------------===//

#include "runtime/checkpoint/hold.h"

#include "runtime/base/checkpoint_names.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace mtc::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// Who removes a checkpoint has its lock for one rename.
constexpr std::chrono::seconds kRemovalTime{1};
constexpr std::chrono::milliseconds kRemovalPause{1};

std::string manifestOf(const std::string &folder) {
  return folder + "/" + kManifestFile;
}

/// Of the open file, not of the process: one that reads a checkpoint opens the
/// manifest several times.
bool lockWhole(int fd, short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

bool isOfAnother(int error) { return error == EACCES || error == EAGAIN; }

bool stillNamed(const std::string &path, int fd) {
  struct stat named, open;
  return stat(path.c_str(), &named) == 0 && fstat(fd, &open) == 0 &&
         named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

} // namespace

bool CheckpointHold::open(const std::string &folder, int flags) {
  letGo();
  fd_ =
      ::open(manifestOf(folder).c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0666);
  return fd_ >= 0;
}

void CheckpointHold::letGo() {
  if (fd_ >= 0)
    close(fd_);
  fd_ = -1;
}

CheckpointHold CheckpointHold::take(const std::string &folder) {
  CheckpointHold hold;
  for (auto end = Clock::now() + kRemovalTime; Clock::now() < end;) {
    if (!hold.open(folder, O_RDONLY))
      return {}; // who reads the manifest says why
    bool locked = lockWhole(hold.fd_, F_RDLCK);
    if (locked && stillNamed(manifestOf(folder), hold.fd_))
      return hold;
    if (!locked && !isOfAnother(errno))
      return {};
    std::this_thread::sleep_for(kRemovalPause);
  }
  return {};
}

bool CheckpointHold::takeAlone(const std::string &folder, CheckpointHold &out) {
  CheckpointHold hold;
  // Without a manifest that it may open, nobody takes it for a checkpoint.
  if (hold.open(folder, O_RDWR) && !lockWhole(hold.fd_, F_WRLCK) &&
      isOfAnother(errno))
    return false;
  out = std::move(hold);
  return true;
}

} // namespace mtc::runtime
