//===- commit.h - makes what ranks wrote a checkpoint -----------*- C++ -*-===//
//
// The protocol: every rank writes its file and the digests of it, fsyncs both,
// in a folder of a temporary name; when all have, one of them writes the
// manifest, fsyncs file and folder, renames the folder, and fsyncs the folder
// around it. A folder that has its name is whole, whenever the power fails.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CHECKPOINT_COMMIT_H
#define MTC_RUNTIME_CHECKPOINT_COMMIT_H

#include "runtime/checkpoint/manifest.h"
#include "runtime/pieces/pieces.h"

#include <string>
#include <vector>

namespace mtc::runtime {

/// A folder of checkpoints, and the run that writes to it.
struct CheckpointPlace {
  std::string root, nonce;
  int64_t bytes = 0; ///< of the tensors of one checkpoint
  /// Where the checkpoint of a step is until it is committed, and then.
  std::string meanwhile(int64_t step) const;
  std::string folder(int64_t step) const;
};

/// Whether the file system has room for the checkpoint of a step, of which some
/// ranks may have written theirs; 5 per cent more than its tensors take.
/// Errors: writeFailed.
Status checkRoom(const CheckpointPlace &place, int64_t step);

/// What one rank has: called by each of them. `stream` may be null where all
/// pieces are on the host. Errors: writeFailed, also if there is no room for
/// all that ranks write; those of the stream.
Status writeRank(const CheckpointPlace &place, int64_t step, int rank,
                 Stream *stream, const std::vector<Piece> &pieces);

/// Called by one rank, when all have written. `manifest` says all but sums and
/// tensors, which it gets. A folder of that name, which was no whole
/// checkpoint, or the run would have begun behind it, goes. Errors:
/// writeFailed, among them: an element of a tensor was written by two ranks or
/// by none, a rank wrote nothing. What the ranks wrote is removed then. An
/// error of the last fsync leaves open whether there is a checkpoint of this
/// step; one that is there is whole.
Status commitCheckpoint(const CheckpointPlace &place, int ranks,
                        Manifest &manifest);

/// Removes one: it loses its name first. Errors: writeFailed.
Status discardCheckpoint(const CheckpointPlace &place, int64_t step);

/// The same of one that nobody reads (CheckpointHold); `stays`: somebody does.
Status discardUnread(const CheckpointPlace &place, int64_t step, bool &stays);

/// Of those up to `newest`, which is whole, removes all but the last `keep`,
/// and but those that somebody reads, which are the next call's.
/// Later ones are of a run that went on from an earlier one, as they are not
/// whole: they count for nothing. Errors: writeFailed.
Status pruneCheckpoints(const CheckpointPlace &place, int64_t newest,
                        int64_t keep);

/// Removes what runs that ended left unfinished. Only for who alone writes to
/// the folder. Errors: writeFailed.
Status removeTemporaries(const std::string &root);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CHECKPOINT_COMMIT_H
