//===- collectives.cpp - ops that mix the ranks ---------------------------===//
#include "test/evaluator/layout.h"
#include "test/evaluator/ops.h"

#include <algorithm>

using namespace mlir;

namespace mtc::eval {

bool isCollective(Operation *op) {
  return isa<dist::AllReduceOp, dist::ReduceScatterOp, dist::AllGatherOp,
             dist::SliceOp, dist::ReshardOp>(op);
}

/// Sum or maximum over the group of `rank`, in rank order.
static Tensor reduced(const Mesh &mesh, int64_t rank, StringRef axis,
                      const Ranks &in, bool isMax) {
  auto group = mesh.group(rank, axis);
  Tensor y = in[group.front()];
  for (int64_t other : llvm::drop_begin(group))
    for (size_t i = 0; i < y.reals.size(); ++i)
      y.reals[i] = isMax ? std::max(y.reals[i], in[other].reals[i])
                         : y.reals[i] + in[other].reals[i];
  return y;
}

static Tensor own(const Mesh &mesh, int64_t rank, StringRef axis,
                  const Tensor &x, int64_t dim) {
  return partOf(x, dim, axis, mesh.coordinate(rank, axis), mesh.sizeOf(axis));
}

static Tensor gathered(const Mesh &mesh, int64_t rank, StringRef axis,
                       const Ranks &in, int64_t dim) {
  std::vector<Tensor> parts;
  for (int64_t other : mesh.group(rank, axis))
    parts.push_back(in[other]);
  return wholeOf(parts, dim, axis);
}

FailureOr<Ranks> collective(Operation *op, const Mesh &mesh, const Ranks &in) {
  if (isa<dist::ReshardOp>(op)) {
    if (mesh.ranks() == 1)
      return in;
    return op->emitOpError("expected local types (after partition) on ")
           << mesh.ranks() << " ranks, found a reshard of global types";
  }
  Ranks out;
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    if (auto all = dyn_cast<dist::AllReduceOp>(op)) {
      bool isMax = all.getKind() == dist::ReduceKind::Max;
      out.push_back(reduced(mesh, rank, all.getAxis(), in, isMax));
    } else if (auto scatter = dyn_cast<dist::ReduceScatterOp>(op)) {
      Tensor sum = reduced(mesh, rank, scatter.getAxis(), in, false);
      out.push_back(own(mesh, rank, scatter.getAxis(), sum, scatter.getDim()));
    } else if (auto gather = dyn_cast<dist::AllGatherOp>(op)) {
      out.push_back(
          gathered(mesh, rank, gather.getAxis(), in, gather.getDim()));
    } else {
      auto part = cast<dist::SliceOp>(op);
      out.push_back(own(mesh, rank, part.getAxis(), in[rank], part.getDim()));
    }
  }
  return out;
}

} // namespace mtc::eval
