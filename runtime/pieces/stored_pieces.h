//===- stored_pieces.h - reads tensors from files of pieces -----*- C++ -*-===//
//
// Files that ranks wrote, each with what that rank had (pieces.h), are tensors
// again: an element is found by its place in the tensor, whichever file has it.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_PIECES_STORED_PIECES_H
#define MTC_RUNTIME_PIECES_STORED_PIECES_H

#include "runtime/base/file.h"
#include "runtime/base/safetensors.h"
#include "runtime/pieces/pieces.h"

#include <map>
#include <string>
#include <vector>

namespace mtc::runtime {

/// A tensor, and which of the pieces have elements of it.
struct StoredTensor {
  std::vector<int64_t> shape;
  std::vector<size_t> pieces;
};

/// The pieces of some files, whose headers are in memory. One file is open at a
/// time, so it serves one thread.
class StoredPieces {
public:
  /// Errors: inputRejected, all of a file at once: what is no such file, pieces
  /// that leave their tensor, two shapes of one tensor.
  static Status open(const std::vector<std::string> &paths, StoredPieces &out);

  /// By name.
  const std::map<std::string, StoredTensor> &tensors() const {
    return tensors_;
  }
  size_t pieceCount() const { return pieces_.size(); }
  /// The piece, without data, and the file that has it.
  const Piece &piece(size_t index) const { return pieces_[index].piece; }
  const std::string &fileOf(size_t index) const {
    return paths_[pieces_[index].file];
  }
  /// Reads elements [first, first + count) of a piece. Errors: inputRejected.
  Status read(size_t index, int64_t first, int64_t count, float *out) const;

private:
  struct Stored {
    Piece piece;
    size_t file = 0;
    int64_t offset = 0; ///< of its data in the file, bytes
  };
  Status readFile(size_t file);

  std::vector<std::string> paths_;
  std::vector<Stored> pieces_;
  std::map<std::string, StoredTensor> tensors_;
  mutable InputFile open_; ///< of `openFile_`
  mutable size_t openFile_ = SIZE_MAX;
};

/// One tensor of them, all of whose elements are there once.
class TensorReader {
public:
  /// Errors: inputRejected: there is no such tensor, or an element of it was
  /// written by two ranks or by none.
  static Status open(const StoredPieces &from, const std::string &name,
                     TensorReader &out);

  int64_t elements() const { return elements_; }
  /// Calls visit(piece, first, count) for the pieces that have the elements
  /// [global, global + count), which lie inside the tensor, in ascending order:
  /// `first` counts in the piece. Stops at an error, which is returned.
  Status visit(int64_t global, int64_t count,
               const std::function<Status(size_t piece, int64_t first,
                                          int64_t count)> &visit) const;
  /// Reads these elements.
  Status read(int64_t global, int64_t count, float *out) const;

private:
  /// Elements that follow each other in tensor and piece.
  struct Run {
    int64_t global, count;
    size_t piece;
    int64_t first;
  };
  Status checkRuns(const std::string &name) const;

  const StoredPieces *from_ = nullptr;
  int64_t elements_ = 0;
  std::vector<Run> runs_; ///< by `global`
};

/// Copies a tensor to the one of the name `as` that a file has. Errors: those
/// of TensorReader and of the writer.
Status copyTensor(const StoredPieces &from, const std::string &name,
                  const std::string &as, SafetensorsWriter &writer);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PIECES_STORED_PIECES_H
