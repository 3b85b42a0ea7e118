//===- sealed_folder.h - folders that nothing else goes into ----*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_SEALED_FOLDER_H
#define MTC_RUNTIME_BASE_SEALED_FOLDER_H

#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {

/// A bundle or a checkpoint: its files belong together.
struct SealedFolder {
  std::string path; ///< from the working folder, if it is below that
  const char *what; ///< "bundle" or "checkpoint"
  bool isInside;    ///< else it is what was looked for
};

/// The innermost sealed folder that `path` lies in, or would, behind links; or
/// is, or would be, if `isFolder`. A bundle has a manifest and programs; a
/// checkpoint the file of a rank, and a manifest or the name of a checkpoint.
/// Such a name alone suffices in a folder that has a checkpoint, and in
/// `roots`, which will have some.
std::optional<SealedFolder> sealedAround(const std::string &path, bool isFolder,
                                         const std::vector<std::string> &roots);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_SEALED_FOLDER_H
