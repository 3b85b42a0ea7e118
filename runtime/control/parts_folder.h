//===- parts_folder.h - where a file is until it is whole -------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_PARTS_FOLDER_H
#define MTC_RUNTIME_CONTROL_PARTS_FOLDER_H

#include "runtime/base/status.h"

#include <string>

namespace mtc::runtime {

/// A new folder beside a file, so of its file system. Its name, the file's with
/// `.parts-` and random letters, is nobody else's: no file of the user is in
/// the way of parts, or goes with them. A run that is killed leaves it.
class PartsFolder {
public:
  PartsFolder() = default;
  PartsFolder(PartsFolder &&other) noexcept { path_.swap(other.path_); }
  PartsFolder &operator=(PartsFolder &&other) noexcept {
    path_.swap(other.path_);
    return *this;
  }
  /// Removes the folder and what is in it.
  ~PartsFolder();

  /// Beside `file`, behind links. Errors: writeFailed.
  static Status create(const std::string &file, PartsFolder &out);

  const std::string &path() const { return path_; }

private:
  std::string path_; ///< empty: none
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_PARTS_FOLDER_H
