//===- output_files.h - no output is an input -------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_OUTPUT_FILES_H
#define MTC_RUNTIME_BASE_OUTPUT_FILES_H

#include "runtime/base/status.h"

#include <string>
#include <vector>

namespace mtc::runtime {

/// A file of a command and the option that names it.
struct NamedFile {
  std::string option, path;
};

struct CommandFiles {
  std::string bundle; ///< that is read: its folder; empty: none
  std::vector<NamedFile> inputs, outputs;
  std::vector<NamedFile> folders; ///< that get outputs
  /// What outputs take beside them for a while.
  std::vector<NamedFile> locks;
  /// Folders of checkpoints that are there, or will be.
  std::vector<std::string> checkpoints;
};

/// Whether two names are those of one file, or would be.
bool sameFile(const std::string &a, const std::string &b);

/// Checks that no output is an input, another output, or a file of the bundle,
/// and that none, file or folder, lies inside of any bundle or checkpoint
/// (sealed_folder.h). Files are the same if their inodes are, whatever their
/// names; outputs that do not exist yet if folder and name are, behind links.
/// Errors: usage, all of them at once.
Status checkFiles(const CommandFiles &files);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_OUTPUT_FILES_H
