//===- file.h - input files and atomic output files -------------*- C++ -*-===//
//
// Inputs are read by offset; what many processes read over and over is mapped
// (mapped_file.h). Outputs are written under a temporary name in the
// same folder, fsynced and renamed, so a file that carries its final name is
// whole.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_BASE_FILE_H
#define MTC_RUNTIME_BASE_FILE_H

#include "runtime/base/status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace mtc::runtime {

/// A regular file open for reading by offset. A file that another program cuts
/// while it is open is an error of the read. Reads of several threads do not
/// disturb each other.
class InputFile {
public:
  InputFile() = default;
  InputFile(InputFile &&other) noexcept { swap(other); }
  InputFile &operator=(InputFile &&other) noexcept {
    swap(other);
    return *this;
  }
  ~InputFile();

  /// Errors: inputRejected when `path` is missing or not a regular file.
  static Status open(const std::string &path, InputFile &out);

  const std::string &path() const { return path_; }
  int64_t size() const { return size_; } ///< bytes, when it was opened
  /// Reads `bytes` at byte `offset` to `out`, all of them. Errors:
  /// inputRejected, among them: the file is shorter now.
  Status read(int64_t offset, void *out, int64_t bytes) const;
  /// All size() > 0 bytes in memory, for reading, until munmap. MAP_FAILED with
  /// errno: they are not. Private: some file systems have no other mappings.
  void *map() const;
  /// It has at least as many bytes as when it was opened.
  bool isWhole() const;

private:
  void swap(InputFile &other) noexcept;
  std::string path_;
  int fd_ = -1;
  int64_t size_ = 0;
};

/// Reads `bytes` at byte `offset`, fewer only where the file ends. How many; -1
/// after an error, which errno says.
int64_t readAt(int fd, int64_t offset, void *out, int64_t bytes);

/// The whole of a regular file. Errors: inputRejected.
Status readWholeFile(const std::string &path, std::string &out);

/// Writes all of `text` to a descriptor at its position, again after an
/// interruption. False, with errno, when it could not.
bool writeAll(int fd, std::string_view text);

/// How long a line waits for who reads it, in milliseconds: nobody is held up
/// longer by a pipe that is full or a terminal that is stopped.
constexpr int kPatience = 1000;

/// Whether a write of a line would not wait, within so many milliseconds: a
/// pipe may be full, a terminal stopped. True, too, where a write fails at
/// once.
bool isWritable(int fd, int milliseconds);

/// What a path names behind links, whether there is a file or not: what is to
/// be written for `path` goes there. Of a folder without the slash, or the dot,
/// at its end.
std::string behindLinks(const std::string &path);

/// Who makes a name in a folder outlive a loss of power.
enum class NameSync {
  here,     ///< the commit of the file
  byCaller, ///< syncFolder, once, behind all files of the folder
  nobody ///< nor its bytes: for what is cheaper to make again than to wait for
};

/// An output file that appears under its name, behind links, only after
/// commit().
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

  /// Until then it is in the folder `meanwhile`, of the same file system;
  /// empty: beside `path`. Errors: writeFailed, among them: `path` is there and
  /// no regular file, such as a pipe or a device, which stays as it is.
  static Status create(const std::string &path, AtomicFile &out,
                       const std::string &meanwhile = "");
  /// Takes room for so many bytes, so that no write of them finds the disk
  /// full; where a file system cannot, nothing. Errors: writeFailed.
  Status reserve(int64_t bytes);
  /// Writes all `bytes` at byte `offset`; any order.
  Status write(int64_t offset, const void *data, int64_t bytes);
  /// fsync, rename, fsync of the folder, as `names` says. Errors:
  /// writeFailed, after the rename, too, when nobody knows which file a loss of
  /// power leaves.
  Status commit(NameSync names = NameSync::here);

private:
  void swap(AtomicFile &other) noexcept;
  std::string path_, temporary_;
  int fd_ = -1;
};

/// Writes `text` to `path` as one atomic file.
Status writeTextFile(const std::string &path, std::string_view text,
                     NameSync names = NameSync::here);

/// Whether a file could be written to `path` later: its folder is there and
/// writable, and the name is free or a regular file's. Errors: writeFailed.
Status checkWritable(const std::string &path);

/// Makes the names in a folder last: without this a rename may not survive a
/// loss of power. Errors: writeFailed.
Status syncFolder(const std::string &path);

/// Creates a folder and its parents. Errors: writeFailed.
Status makeFolders(const std::string &path);
/// The same, and each that is new outlives a loss of power.
Status makeLastingFolders(const std::string &path);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_FILE_H
