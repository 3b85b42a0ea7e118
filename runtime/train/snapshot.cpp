//===- snapshot.cpp - a copy of what a rank has, on the host --------------===//

#include "runtime/train/snapshot.h"

#include <fmt/format.h>

namespace mtc::runtime {

Status Snapshot::create(const std::vector<Piece> &pieces,
                        const std::string &name, Snapshot &out) {
  int64_t elements = 0;
  for (const Piece &piece : pieces)
    elements += piece.count;
  Snapshot made;
  MTC_RETURN_IF_ERROR(HostMemory::map(
      elements * static_cast<int64_t>(sizeof(float)),
      fmt::format("snapshot of {}, which --async-save takes", name),
      made.memory_));
  out = std::move(made);
  return Status::okay();
}

Status Snapshot::take(Stream &stream, const std::vector<Piece> &pieces) {
  auto *to = static_cast<float *>(memory_.base());
  pieces_ = pieces;
  for (Piece &piece : pieces_) {
    MTC_RETURN_IF_ERROR(
        readElements(stream, piece, 0, {to, static_cast<size_t>(piece.count)}));
    piece.data = to;
    to += piece.count;
  }
  return Status::okay();
}

} // namespace mtc::runtime
