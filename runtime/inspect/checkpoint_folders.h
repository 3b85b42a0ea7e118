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
  Status status;    ///< of opening it
  Checkpoint checkpoint;
};

/// The checkpoint that `path` is, or those in it by their steps, but for those
/// that are removed meanwhile. Their status is that of Checkpoint::verify, too,
/// if `reads`. None is held. Errors: inputRejected, when there is none.
Status openCheckpoints(const std::string &path, bool reads,
                       std::vector<CheckpointFolder> &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_INSPECT_CHECKPOINT_FOLDERS_H
