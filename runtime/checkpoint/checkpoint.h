//===- checkpoint.h - one checkpoint, as it lies on disk --------*- C++ -*-===//
#ifndef MTC_RUNTIME_CHECKPOINT_CHECKPOINT_H
#define MTC_RUNTIME_CHECKPOINT_CHECKPOINT_H

#include "runtime/checkpoint/hold.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/pieces/stored_pieces.h"

#include <string>
#include <vector>

namespace mtc::runtime {

struct Checkpoint {
  std::string folder;
  Manifest manifest;
  StoredPieces pieces;
  CheckpointHold hold; ///< it stays while it is read

  int ranks() const { return static_cast<int>(manifest.sums.size()); }
  int64_t elements() const { return elementsOf(manifest); }

  /// Reads manifest and headers, no data: all files that the manifest names are
  /// there, and each element of each tensor that it names once. Where the
  /// folder is called by a step (checkpoint_names.h), it is of that one.
  /// Errors: inputRejected.
  static Status open(const std::string &folder, Checkpoint &out);
  /// Reads all bytes. Errors: inputRejected, with file and bytes that are not
  /// those that were written.
  Status verify() const;
};

/// The last one whose bytes are all those that were written.
struct NewestWhole {
  Checkpoint checkpoint;             ///< none if there is no folder in it
  std::vector<std::string> rejected; ///< newer ones, each with the reason
};

/// Steps of the checkpoints in `root`, ascending, whole or not. Errors:
/// inputRejected, when the folder cannot be read.
Status listSteps(const std::string &root, std::vector<int64_t> &out);

/// Whether a folder that was there has lost its name: who removes a checkpoint
/// begins with that.
bool isGone(const std::string &folder);

/// Reads from the newest one back until one is whole; none if `root` is not
/// there. Begins again when one is removed meanwhile. Errors: those of
/// listSteps; inputRejected, when that never ends.
Status findNewestWhole(const std::string &root, NewestWhole &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CHECKPOINT_CHECKPOINT_H
