//===- run_files.h - no output of a run is an input of it -------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_RUN_FILES_H
#define MTC_RUNTIME_CONTROL_RUN_FILES_H

#include "runtime/base/status.h"

#include <string>
#include <vector>

namespace mtc::runtime {

/// A file of a run and the option that names it.
struct NamedFile {
  std::string option, path;
};

struct RunFiles {
  std::string bundle; ///< its folder
  std::vector<NamedFile> inputs, outputs;
};

/// Checks that no output is an input, another output, or a file of the bundle,
/// and that none lies inside the bundle. Files are the same if their inodes
/// are, whatever their names; outputs that do not exist yet if folder and name
/// are. Errors: usage, all of them at once.
Status checkFiles(const RunFiles &files);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_RUN_FILES_H
