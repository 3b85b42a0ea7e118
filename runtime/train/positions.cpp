//===- positions.cpp - which positions of a sample a rank has -------------===//
#include "runtime/train/positions.h"

namespace mtc::runtime {

std::vector<Positions> positionsOf(const RankState &rank, int64_t seq) {
  int64_t ranks = rank.mesh()[MTC_AXIS_CP];
  if (ranks == 1)
    return {{0, seq}};
  int64_t piece = seq / (2 * ranks), local = 0;
  std::vector<Positions> parts;
  for (const PieceOffset &offset : pieceOffsets(ranks, piece)) {
    parts.push_back({local + offset.at(rank.coord(MTC_AXIS_CP)), piece});
    local += piece;
  }
  return parts;
}

} // namespace mtc::runtime
