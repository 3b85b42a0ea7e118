//===- file_stamp.h - whether a file has changed ----------------*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_FILE_STAMP_H
#define MTC_TOOLS_DATA_FILE_STAMP_H

#include "runtime/base/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::data {

/// What tells a file from what it was: another one of its name, its size, and
/// when it was written. Two changes within a tick of the kernel's clock (some
/// milliseconds) that keep the size are one.
struct FileStamp {
  uint64_t device = 0, inode = 0;
  int64_t bytes = 0, seconds = 0, nanoseconds = 0;
  bool operator==(const FileStamp &) const = default;
};

/// Of files that are read more than once.
class FileStamps {
public:
  /// Errors: inputRejected, a file that is gone.
  static runtime::Status take(const std::vector<std::string> &paths,
                              FileStamps &out);
  /// Errors: inputRejected, all files that have changed since.
  runtime::Status check() const;

private:
  std::vector<std::string> paths_;
  std::vector<FileStamp> stamps_;
};

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_FILE_STAMP_H
