//===- shape.cpp - broadcast, reduce and ops that only name a value -------===//
#include "test/evaluator/ops.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace mtc::eval {

static void broadcast(tfm::BroadcastOp op, Call &c) {
  forEachIndex(c.out[0].shape, [&](const Shape &index) {
    Shape from;
    for (int64_t dim : op.getDims())
      from.push_back(index[dim]);
    c.out[0].at(index) = c.in[0]->at(from);
  });
}

static void reduce(tfm::ReduceOp op, Call &c) {
  bool isMax = op.getKind() == tfm::ReduceKind::Max;
  if (isMax)
    std::fill(c.out[0].reals.begin(), c.out[0].reals.end(),
              -std::numeric_limits<double>::infinity());
  forEachIndex(c.in[0]->shape, [&](const Shape &index) {
    Shape to;
    for (int64_t d = 0; d < c.in[0]->rank(); ++d)
      if (!llvm::is_contained(op.getDims(), d))
        to.push_back(index[d]);
    double &y = c.out[0].at(to), x = c.in[0]->at(index);
    y = isMax ? std::max(y, x) : y + x;
  });
}

/// `index` of what repeats, as the index of what it repeats.
static Shape repeatedIndex(const Call &c, Shape index, int64_t dim,
                           int64_t times) {
  index[dim] = (index[dim] + c.indexOffset()) / times;
  return index;
}

static void repeat(tfm::RepeatOp op, Call &c) {
  forEachIndex(c.out[0].shape, [&](const Shape &index) {
    c.out[0].at(index) =
        c.in[0]->at(repeatedIndex(c, index, op.getDim(), op.getTimes()));
  });
}

static void repeatGrad(tfm::RepeatGradOp op, Call &c) {
  forEachIndex(c.in[0]->shape, [&](const Shape &index) {
    c.out[0].at(repeatedIndex(c, index, op.getDim(), op.getTimes())) +=
        c.in[0]->at(index);
  });
}

void addShape(Handlers &h) {
  on<tfm::BroadcastOp>(h, broadcast);
  on<tfm::RepeatOp>(h, repeat);
  on<tfm::RepeatGradOp>(h, repeatGrad);
  on<tfm::ReduceOp>(h, reduce);
}

void addStructure(Handlers &h) {
  auto identity = [](Call &c) {
    c.out[0] = *c.in[0];
    return success();
  };
  for (const char *name : {"tfm.save", "tfm.restore", "tfm.stop_gradient",
                           "tfm.cast", "tfm.whole"})
    h[name] = identity;
}

} // namespace mtc::eval
