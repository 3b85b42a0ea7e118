//===- pieces.h - tensors that ranks write together -------------*- C++ -*-===//
//
// Each rank writes what it owns into a part file beside the target; when all
// have done so (a barrier), rank 0 merges the parts into one safetensors file
// of global tensors and removes them. A missing or doubly written element is an
// error, and the target appears only when it is whole.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_TRAIN_PIECES_H
#define MTC_RUNTIME_TRAIN_PIECES_H

#include "runtime/base/status.h"
#include "runtime/device/device.h"
#include "runtime/train/slab.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Elements [start, start + count) of a box of a global fp32 tensor.
struct Piece {
  std::string name;
  std::vector<int64_t> shape; ///< of the global tensor
  Box box;
  int64_t start = 0, count = 0;
  /// The `count` elements, the caller's: on the host, or nullptr ...
  const float *data = nullptr;
  ArenaOffset source{}; ///< ... and then here on the device
};

/// The part file of one rank for `target`.
std::string partPath(const std::string &target, int rank);

/// Writes one part file; what is on the device comes by `stream`. Errors:
/// writeFailed, those of the stream.
Status writePart(const std::string &target, int rank, Stream &stream,
                 const std::vector<Piece> &pieces);

/// Merges the parts of `ranks` ranks into `target` and removes them. Errors:
/// inputRejected (a part is missing or corrupt), internal (an element is
/// missing or written twice, or shapes disagree), writeFailed.
Status mergeParts(const std::string &target, int ranks,
                  const std::map<std::string, std::string> &metadata);

/// Removes what a failed run left beside `target`: its parts, and temporary
/// files of it and of them. The ranks must have ended.
void removeParts(const std::string &target);

/// One of the ranks that write a file.
struct Writers {
  int rank, ranks;
  Stream &stream;
  std::function<Status()> meet; ///< returns when every rank has called it
};

/// All of it, called by every rank: part, barrier, merge by rank 0. A rank that
/// fails removes its part.
Status writeTogether(const std::string &target, const Writers &writers,
                     const std::vector<Piece> &pieces,
                     const std::map<std::string, std::string> &metadata);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_PIECES_H
