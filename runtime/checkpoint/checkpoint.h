//===- checkpoint.h - one checkpoint, as it lies on disk --------*- C++ -*-===//
#ifndef MTC_RUNTIME_CHECKPOINT_CHECKPOINT_H
#define MTC_RUNTIME_CHECKPOINT_CHECKPOINT_H

#include "runtime/checkpoint/manifest.h"
#include "runtime/pieces/stored_pieces.h"

#include <string>
#include <vector>

namespace mtc::runtime {

struct Checkpoint {
  std::string folder;
  Manifest manifest;
  StoredPieces pieces;

  int ranks() const { return static_cast<int>(manifest.sums.size()); }
  int64_t elements() const { return elementsOf(manifest); }

  /// Reads manifest and headers, no data: all files that the manifest names are
  /// there, and each element of each tensor that it names once. Errors:
  /// inputRejected.
  static Status open(const std::string &folder, Checkpoint &out);
  /// Reads all bytes. Errors: inputRejected, with file and bytes that are not
  /// those that were written.
  Status verify() const;
};

/// The folder of the last one whose bytes are all those that were written.
struct NewestWhole {
  std::string folder;                ///< empty: there is none
  std::vector<std::string> rejected; ///< newer ones, each with the reason
};

/// Steps of the checkpoints in `root`, ascending, whole or not. Errors:
/// inputRejected, when the folder cannot be read.
Status listSteps(const std::string &root, std::vector<int64_t> &out);

/// Reads from the newest one back until one is whole; none if `root` is not
/// there. Errors: those of listSteps.
Status findNewestWhole(const std::string &root, NewestWhole &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CHECKPOINT_CHECKPOINT_H
