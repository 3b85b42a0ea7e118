//===- mapped_file.h - input files in memory --------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_MAPPED_FILE_H
#define MTC_RUNTIME_BASE_MAPPED_FILE_H

#include "runtime/base/file.h"

#include <cstddef>
#include <memory>

namespace mtc::runtime {

/// A regular file that is mapped, which may be larger than memory. Read
/// through a copy only, because a page that cannot be had, of a file that was
/// cut or a disk that fails, is a signal (SIGBUS) to whoever touches it: here
/// that becomes the error of a read. Reads of several threads do not disturb
/// each other.
class MappedFile {
public:
  /// Installs this process's handler of SIGBUS, once; faults of others go on to
  /// the handler before it. Errors: those of InputFile; inputRejected, when
  /// it cannot be mapped; failed.
  static Status open(const std::string &path, MappedFile &out);

  const std::string &path() const { return file_.path(); }
  int64_t size() const { return file_.size(); } ///< bytes, when it was opened
  /// Copies `bytes` at byte `offset` to `out`, all of them. Errors:
  /// inputRejected, among them: the file is shorter now.
  Status read(int64_t offset, void *out, int64_t bytes) const;

private:
  struct Unmap {
    size_t bytes;
    void operator()(const std::byte *at) const;
  };
  InputFile file_;
  std::unique_ptr<const std::byte, Unmap> bytes_; ///< null: the file is empty
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_MAPPED_FILE_H
