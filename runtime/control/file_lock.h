//===- file_lock.h - one run at a time writes a file ------------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_FILE_LOCK_H
#define MTC_RUNTIME_CONTROL_FILE_LOCK_H

#include "runtime/base/status.h"

#include <string>

namespace mtc::runtime {

/// An open file that no other process holds, by a lock of the kernel: it ends
/// with the process, however that ends. A process must not open such a file a
/// second time: closing one of its descriptors would end the lock.
class FileLock {
public:
  FileLock() = default;
  FileLock(FileLock &&other) noexcept { swap(other); }
  FileLock &operator=(FileLock &&other) noexcept {
    swap(other);
    return *this;
  }
  /// Ends the lock; removes the file if `remove` asked for it.
  ~FileLock();

  /// Opens `path` for reading and writing, created if it is missing, and locks
  /// it for what messages call `guarded`. Errors: writeFailed; usage, with the
  /// process that holds it.
  static Status take(const std::string &path, const std::string &guarded,
                     FileLock &out);

  /// Whether another process holds the lock of `path`. Errors: usage, with that
  /// process and what messages call `guarded`. Not for a file that this process
  /// has open.
  static Status checkFree(const std::string &path, const std::string &guarded);

  int fd() const { return fd_; } ///< this object's
  /// Makes it a lock and nothing else: an empty file, which the destructor
  /// removes if it was not there before. Errors: usage, when there is something
  /// in it.
  Status holdEmpty();

private:
  void swap(FileLock &other) noexcept;
  std::string path_;
  int fd_ = -1;
  bool isNew_ = false, remove_ = false;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_FILE_LOCK_H
