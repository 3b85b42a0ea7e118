//===- file_faults.cpp - a library that makes files fail ------------------===//
//
// Preloaded (LD_PRELOAD) into a program, it numbers what the program does to
// the files of one folder, from 1, and may end or fail one of these calls:
//
//   MTC_FAULT_ROOT   the folder, absolute
//   MTC_FAULT        "kill@N": SIGKILL in place of call N; "EIO@N", "ENOSPC@N":
//                    call N fails so; "short@N": a write of half its bytes
//   MTC_FAULT_FROM   not the call alone: all behind it fail so, too
//   MTC_FAULT_RANK   only in the process of this rank (MTC_RANK); without it in
//                    every one
//   MTC_FAULT_LOG    a file outside of the folder: a line for each call that
//                    succeeded, "NUMBER NAME OFFSET BYTES PATH [OTHER PATH]",
//                    tab-separated; what was written goes to the file .data
//
// Calls that only read are not numbered: they leave nothing behind.
//
//===----------------------------------------------------------------------===//
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <mutex>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

struct Plan {
  std::string root, log;
  std::string what; ///< kill, EIO, ENOSPC, short; empty: nothing
  long at = 0;
  bool andAfter = false;
  bool active = false;
};

const char *environmentOr(const char *name, const char *other) {
  const char *text = std::getenv(name);
  return text ? text : other;
}

const Plan &plan() {
  static const Plan made = [] {
    Plan p;
    p.root = environmentOr("MTC_FAULT_ROOT", "");
    p.log = environmentOr("MTC_FAULT_LOG", "");
    std::string fault = environmentOr("MTC_FAULT", "");
    if (size_t at = fault.find('@'); at != std::string::npos) {
      p.what = fault.substr(0, at);
      p.at = std::atol(fault.c_str() + at + 1);
    }
    p.andAfter = std::getenv("MTC_FAULT_FROM") != nullptr;
    const char *rank = std::getenv("MTC_FAULT_RANK");
    p.active = !p.root.empty() &&
               (!rank || std::string(environmentOr("MTC_RANK", "")) == rank);
    return p;
  }();
  return made;
}

/// The path behind a folder's descriptor and a name in it.
std::string pathOf(int folder, const char *name) {
  if (name[0] == '/')
    return name;
  char base[PATH_MAX];
  std::string link = folder == AT_FDCWD
                         ? std::string("/proc/self/cwd")
                         : "/proc/self/fd/" + std::to_string(folder);
  ssize_t n = readlink(link.c_str(), base, sizeof base);
  return n > 0 ? std::string(base, static_cast<size_t>(n)) + "/" + name : name;
}

std::string pathOf(int fd) {
  char path[PATH_MAX];
  std::string link = "/proc/self/fd/" + std::to_string(fd);
  ssize_t n = readlink(link.c_str(), path, sizeof path);
  return n > 0 ? std::string(path, static_cast<size_t>(n)) : "";
}

bool isWatched(const std::string &path) {
  return plan().active && path.compare(0, plan().root.size(), plan().root) == 0;
}

template <typename Function> Function *original(const char *name) {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

/// One call at a time is numbered, done and logged: ranks may be threads.
class Call {
public:
  Call(const char *name, std::string path, std::string other = {})
      : name_(name), path_(std::move(path)), other_(std::move(other)),
        watched_(isWatched(path_)) {
    if (!watched_)
      return;
    mutex().lock();
    number_ = ++counter();
    bool isHit = number_ == plan().at ||
                 (plan().andAfter && plan().at > 0 && number_ > plan().at);
    if (isHit && plan().what == "kill")
      kill(getpid(), SIGKILL);
    if (isHit && plan().what == "EIO")
      error_ = EIO;
    if (isHit && plan().what == "ENOSPC")
      error_ = ENOSPC;
    isShort_ = isHit && plan().what == "short";
  }
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;
  ~Call() {
    if (watched_)
      mutex().unlock();
  }

  bool fails() const {
    if (error_)
      errno = error_;
    return error_ != 0;
  }
  size_t bytes(size_t wanted) const {
    return isShort_ && wanted > 1 ? wanted / 2 : wanted;
  }
  /// It succeeded; `data` was written.
  void done(off_t offset = 0, const void *data = nullptr, size_t bytes = 0) {
    if (!watched_ || plan().log.empty())
      return;
    int saved = errno;
    char line[2 * PATH_MAX + 128];
    int n = std::snprintf(line, sizeof line, "%ld\t%s\t%lld\t%zu\t%s\t%s\n",
                          number_, name_, static_cast<long long>(offset), bytes,
                          path_.c_str(), other_.c_str());
    append(plan().log, line, static_cast<size_t>(n));
    if (bytes > 0)
      append(plan().log + ".data", data, bytes);
    errno = saved;
  }

private:
  static void append(const std::string &path, const void *data, size_t bytes) {
    // Not by functions of this library.
    long fd = syscall(SYS_openat, AT_FDCWD, path.c_str(),
                      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    (void)syscall(SYS_write, fd, data, bytes);
    (void)syscall(SYS_close, fd);
  }
  static std::mutex &mutex() {
    static std::mutex one;
    return one;
  }
  static long &counter() {
    static long count = 0;
    return count;
  }

  const char *name_;
  std::string path_, other_;
  bool watched_ = false, isShort_ = false;
  long number_ = 0;
  int error_ = 0;
};

int openAs(const char *function, const char *path, int flags, mode_t mode) {
  using Open = int(const char *, int, ...);
  static auto *const real = original<Open>("open");
  (void)function;
  if (!(flags & O_CREAT))
    return real(path, flags, mode);
  Call call("create", pathOf(AT_FDCWD, path));
  if (call.fails())
    return -1;
  int fd = real(path, flags, mode);
  if (fd >= 0)
    call.done();
  return fd;
}

mode_t modeOf(int flags, va_list list) {
  return flags & O_CREAT ? static_cast<mode_t>(va_arg(list, int)) : 0;
}

} // namespace

extern "C" {

int open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = modeOf(flags, list);
  va_end(list);
  return openAs("open", path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = modeOf(flags, list);
  va_end(list);
  return openAs("open64", path, flags, mode);
}

ssize_t write(int fd, const void *data, size_t bytes) {
  using Write = ssize_t(int, const void *, size_t);
  static auto *const real = original<Write>("write");
  std::string path = plan().active ? pathOf(fd) : "";
  if (!isWatched(path))
    return real(fd, data, bytes);
  Call call("write", path);
  if (call.fails())
    return -1;
  off_t at = lseek(fd, 0, SEEK_CUR);
  ssize_t n = real(fd, data, call.bytes(bytes));
  if (n >= 0)
    call.done(at, data, static_cast<size_t>(n));
  return n;
}

static ssize_t writeAt(int fd, const void *data, size_t bytes, off_t offset) {
  using Write = ssize_t(int, const void *, size_t, off_t);
  static auto *const real = original<Write>("pwrite");
  std::string path = plan().active ? pathOf(fd) : "";
  if (!isWatched(path))
    return real(fd, data, bytes, offset);
  Call call("write", path);
  if (call.fails())
    return -1;
  ssize_t n = real(fd, data, call.bytes(bytes), offset);
  if (n >= 0)
    call.done(offset, data, static_cast<size_t>(n));
  return n;
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset) {
  return writeAt(fd, data, bytes, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t bytes, off_t offset) {
  return writeAt(fd, data, bytes, offset);
}

static int syncAs(const char *name, int fd) {
  auto *real = original<int(int)>(name);
  std::string path = plan().active ? pathOf(fd) : "";
  if (!isWatched(path))
    return real(fd);
  Call call("fsync", path);
  if (call.fails())
    return -1;
  int result = real(fd);
  if (result == 0)
    call.done();
  return result;
}

int fsync(int fd) { return syncAs("fsync", fd); }
int fdatasync(int fd) { return syncAs("fdatasync", fd); }

int close(int fd) {
  static auto *const real = original<int(int)>("close");
  std::string path = plan().active ? pathOf(fd) : "";
  // What was only read is no output.
  if (!isWatched(path) || (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
    return real(fd);
  Call call("close", path);
  if (call.fails()) {
    int error = errno;
    real(fd); // as the kernel does
    errno = error;
    return -1;
  }
  int result = real(fd);
  if (result == 0)
    call.done();
  return result;
}

int rename(const char *from, const char *to) {
  using Rename = int(const char *, const char *);
  static auto *const real = original<Rename>("rename");
  Call call("rename", pathOf(AT_FDCWD, from), pathOf(AT_FDCWD, to));
  if (call.fails())
    return -1;
  int result = real(from, to);
  if (result == 0)
    call.done();
  return result;
}

int mkdir(const char *path, mode_t mode) {
  using Mkdir = int(const char *, mode_t);
  static auto *const real = original<Mkdir>("mkdir");
  Call call("mkdir", pathOf(AT_FDCWD, path));
  if (call.fails())
    return -1;
  int result = real(path, mode);
  if (result == 0)
    call.done();
  return result;
}

int unlinkat(int folder, const char *name, int flags) {
  using Unlink = int(int, const char *, int);
  static auto *const real = original<Unlink>("unlinkat");
  Call call(flags & AT_REMOVEDIR ? "rmdir" : "unlink", pathOf(folder, name));
  if (call.fails())
    return -1;
  int result = real(folder, name, flags);
  if (result == 0)
    call.done();
  return result;
}

int unlink(const char *name) {
  static auto *const real = original<int(const char *)>("unlink");
  Call call("unlink", pathOf(AT_FDCWD, name));
  if (call.fails())
    return -1;
  int result = real(name);
  if (result == 0)
    call.done();
  return result;
}

/// The C library's own calls in it are not seen.
int remove(const char *name) {
  struct stat info;
  bool isFolder = lstat(name, &info) == 0 && S_ISDIR(info.st_mode);
  return isFolder ? rmdir(name) : unlink(name);
}

int rmdir(const char *name) {
  static auto *const real = original<int(const char *)>("rmdir");
  Call call("rmdir", pathOf(AT_FDCWD, name));
  if (call.fails())
    return -1;
  int result = real(name);
  if (result == 0)
    call.done();
  return result;
}

} // extern "C"
