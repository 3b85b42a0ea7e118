//===- positions.h - which positions of a sample a rank has -----*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_POSITIONS_H
#define MTC_RUNTIME_TRAIN_POSITIONS_H

#include "runtime/program/rank.h"

#include <vector>

namespace mtc::runtime {

/// Positions [first, first + count) of a sample.
struct Positions {
  int64_t first, count;
};

/// What a rank has of samples of `seq` positions, in the order in which they
/// lie on it: all, or a piece of the head and one of the tail (mesh.h).
std::vector<Positions> positionsOf(const RankState &rank, int64_t seq);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_POSITIONS_H
