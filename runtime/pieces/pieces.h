//===- pieces.h - tensors that ranks write together -------------*- C++ -*-===//
//
// Each rank writes what it owns into a part file; when all have done so (a
// barrier), rank 0 merges the parts into one safetensors file of global tensors
// and removes them. A missing or doubly written element is an error, and the
// target appears only when it is whole.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_PIECES_PIECES_H
#define MTC_RUNTIME_PIECES_PIECES_H

#include "runtime/base/file_sums.h"
#include "runtime/base/status.h"
#include "runtime/device/device.h"
#include "runtime/pieces/slab.h"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Elements [start, start + count) of a box of a global fp32 tensor.
struct Piece {
  std::string name;
  std::vector<int64_t> shape; ///< of the global tensor
  /// It is a slice of the tensor that is written.
  std::optional<SliceInfo> slice;
  Box box;
  int64_t start = 0, count = 0;
  /// The `count` elements, the caller's: on the host, or nullptr ...
  const float *data = nullptr;
  ArenaOffset source{};     ///< ... and then here on the device
  MtcDtype dtype = MTC_F32; ///< of `source`: a float type
  float factor = 1;         ///< what the elements at `source` are multiplied by
};

/// Brings elements [first, first + out.size()) of a piece that is on the device
/// to the host, as fp32, times its factor, and waits for them. Errors: those of
/// the stream.
Status readElements(Stream &stream, const Piece &piece, int64_t first,
                    std::span<float> out);

/// A file that ranks write together, and a folder of the same file system that
/// has nothing else: for parts, and for what is not whole yet.
struct SharedFile {
  std::string path, parts;
};

/// Writes a file of pieces; what is on the device comes by `stream`, which may
/// be null where all are on the host. `sums`, which may be null, gets those of
/// the file. Its name outlives a loss of power once the caller has synced the
/// folder. Errors: writeFailed, those of the stream.
Status writePieces(const std::string &path, Stream *stream,
                   const std::vector<Piece> &pieces, FileSums *sums = nullptr);

/// Writes one part file; what is on the device comes by `stream`. Errors:
/// writeFailed, those of the stream.
Status writePart(const SharedFile &file, int rank, Stream &stream,
                 const std::vector<Piece> &pieces);

/// Merges the parts of `ranks` ranks into the file and removes them. Errors:
/// inputRejected (a part is missing or corrupt, an element is missing or
/// written twice, or shapes disagree), writeFailed.
Status mergeParts(const SharedFile &file, int ranks,
                  const std::map<std::string, std::string> &metadata);

/// One of the ranks that write a file.
struct Writers {
  int rank, ranks;
  Stream &stream;
  std::function<Status()> meet; ///< returns when every rank has called it
};

/// All of it, called by every rank: part, barrier, merge by rank 0. Errors:
/// those of writePart, on that rank, and of mergeParts, on rank 0; behind
/// either, but for those of the stream, all ranks have met.
Status writeTogether(const SharedFile &file, const Writers &writers,
                     const std::vector<Piece> &pieces,
                     const std::map<std::string, std::string> &metadata);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PIECES_PIECES_H
