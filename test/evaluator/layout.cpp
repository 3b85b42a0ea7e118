//===- layout.cpp - whole tensors to ranks and back -----------------------===//
#include "test/evaluator/layout.h"

#include <algorithm>

using namespace mlir;

namespace mtc::eval {

using dist::ShardingAttr;

Tensor partOf(const Tensor &x, int64_t dim, StringRef axis, int64_t coordinate,
              int64_t ranks) {
  if (!Mesh::cutsHeadAndTail(axis))
    return slice(x, dim, coordinate, ranks);
  return concat({slice(x, dim, coordinate, 2 * ranks),
                 slice(x, dim, 2 * ranks - 1 - coordinate, 2 * ranks)},
                dim);
}

Tensor wholeOf(const Ranks &parts, int64_t dim, StringRef axis) {
  if (!Mesh::cutsHeadAndTail(axis))
    return concat(parts, dim);
  std::vector<Tensor> pieces;
  for (const Tensor &part : parts)
    pieces.push_back(slice(part, dim, 0, 2));
  for (const Tensor &part : llvm::reverse(parts))
    pieces.push_back(slice(part, dim, 1, 2));
  return concat(pieces, dim);
}

Ranks distribute(const Tensor &whole, ShardingAttr sharding, const Mesh &mesh) {
  Ranks ranks(mesh.ranks(), whole);
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
    for (const std::string &axis : mesh.names())
      if (int64_t dim = sharding.stateOf(axis); dim >= 0)
        ranks[rank] = partOf(ranks[rank], dim, axis,
                             mesh.coordinate(rank, axis), mesh.sizeOf(axis));
  return ranks;
}

/// What the ranks of one group along an axis hold together.
static FailureOr<Tensor> joined(const Ranks &parts, StringRef axis,
                                int64_t state, double tolerance) {
  if (state >= 0)
    return wholeOf(parts, state, axis);
  Tensor y = parts.front();
  for (const Tensor &part : llvm::drop_begin(parts)) {
    if (state == ShardingAttr::kReplicated) {
      if (!(difference(part, y) <= tolerance))
        return failure();
      continue;
    }
    for (size_t i = 0; i < y.reals.size(); ++i)
      y.reals[i] = state == ShardingAttr::kMax
                       ? std::max(y.reals[i], part.reals[i])
                       : y.reals[i] + part.reals[i];
  }
  return y;
}

FailureOr<Tensor> reassemble(const Ranks &ranks, ShardingAttr sharding,
                             const Mesh &mesh, double tolerance,
                             std::string &error) {
  Ranks now = ranks;
  for (const std::string &axis : llvm::reverse(mesh.names())) {
    Ranks next = now;
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      Ranks parts;
      for (int64_t other : mesh.group(rank, axis))
        parts.push_back(now[other]);
      auto whole = joined(parts, axis, sharding.stateOf(axis), tolerance);
      if (failed(whole)) {
        error = "copies differ along axis " + axis;
        return failure();
      }
      next[rank] = std::move(*whole);
    }
    now = std::move(next);
  }
  return now.front();
}

} // namespace mtc::eval
