//===- checkpoint_folders.h - checkpoints that a path names -----*- C++ -*-===//
#ifndef MTC_RUNTIME_INSPECT_CHECKPOINT_FOLDERS_H
#define MTC_RUNTIME_INSPECT_CHECKPOINT_FOLDERS_H

#include "runtime/checkpoint/checkpoint.h"

#include <string>
#include <vector>

namespace mtc::runtime {

/// A folder that is a checkpoint, if `status` is ok.
struct CheckpointFolder {
  std::string path;
  int64_t step = 0; ///< of its name
  Status status;    ///< of Checkpoint::open
  Checkpoint checkpoint;
};

/// The checkpoint that `path` is, or those in it by their steps. Errors:
/// inputRejected, when there is none.
Status openCheckpoints(const std::string &path,
                       std::vector<CheckpointFolder> &out);

/// The checkpoint that `path` is, or the newest in it, with the bytes that were
/// written. Errors: inputRejected.
Status openNewest(const std::string &path, Checkpoint &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_INSPECT_CHECKPOINT_FOLDERS_H
