//===- file.h - mapped input files and atomic output files ------*- C++ -*-===//
//
// Inputs are mapped read-only. Outputs are written under a temporary name in
// the same folder, fsynced and renamed, so a file that carries its final name
// is whole.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_BASE_FILE_H
#define MTC_RUNTIME_BASE_FILE_H

#include "runtime/base/status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mtc::runtime {

/// A regular file mapped for reading; unmapped by the destructor.
class MappedFile {
public:
  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept { swap(other); }
  MappedFile &operator=(MappedFile &&other) noexcept {
    swap(other);
    return *this;
  }
  ~MappedFile();

  /// Errors: inputRejected when `path` is missing or not a regular file. An
  /// empty file maps to size 0.
  static Status open(const std::string &path, MappedFile &out);

  const std::byte *data() const { return data_; }
  int64_t size() const { return size_; } ///< bytes
  std::string_view text() const;

private:
  void swap(MappedFile &other) noexcept;
  const std::byte *data_ = nullptr;
  int64_t size_ = 0;
};

/// An output file that appears under its name only after commit().
class AtomicFile {
public:
  AtomicFile() = default;
  AtomicFile(AtomicFile &&other) noexcept { swap(other); }
  AtomicFile &operator=(AtomicFile &&other) noexcept {
    swap(other);
    return *this;
  }
  /// Removes the temporary file unless commit() succeeded.
  ~AtomicFile();

  /// Errors: writeFailed.
  static Status create(const std::string &path, AtomicFile &out);
  /// Writes all `bytes` at byte `offset`; any order.
  Status write(int64_t offset, const void *data, int64_t bytes);
  /// fsync, rename, fsync of the folder.
  Status commit();

private:
  void swap(AtomicFile &other) noexcept;
  std::string path_, temporary_;
  int fd_ = -1;
};

/// Writes `text` to `path` as one atomic file.
Status writeTextFile(const std::string &path, std::string_view text);

/// Whether a file could be written to `path` later: its folder is there and
/// writable, and the name is free or a regular file's. Errors: writeFailed.
Status checkWritable(const std::string &path);

/// Creates a folder and its parents. Errors: writeFailed.
Status makeFolders(const std::string &path);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_FILE_H
