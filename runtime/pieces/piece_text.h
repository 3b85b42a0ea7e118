//===- piece_text.h - what a file says of its pieces ------------*- C++ -*-===//
//
// A file of pieces is a safetensors file with a flat F32 tensor for each. Its
// metadata has `pieces`, a JSON array in their order:
//
//   {"name": .., "shape": [..], "begin": [..], "size": [..], "start": n,
//    "count": n, "slice": {"of": .., "shape": [..], "dim": n, "first": n,
//    "size": n}}
//
// The tensors have the names of the pieces; of several of one name all but the
// first have their number behind it, as in `logits [3]`.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_PIECES_PIECE_TEXT_H
#define MTC_RUNTIME_PIECES_PIECE_TEXT_H

#include "runtime/base/status.h"
#include "runtime/pieces/pieces.h"

#include <map>
#include <string>
#include <vector>

namespace mtc::runtime {

/// The tensor that a piece has elements of: its own, or that of its slice.
const std::string &targetName(const Piece &piece);
const std::vector<int64_t> &targetShape(const Piece &piece);

/// The names that the pieces' elements have in their file.
std::vector<std::string> namesInFile(const std::vector<Piece> &pieces);

/// The metadata that say so.
std::map<std::string, std::string> metadataOf(const std::vector<Piece> &pieces);

/// Reads them; every piece lies inside its tensor. Errors: inputRejected, all
/// at once.
Status readPieces(const std::map<std::string, std::string> &metadata,
                  const std::string &path, std::vector<Piece> &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PIECES_PIECE_TEXT_H
