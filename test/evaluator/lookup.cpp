//===- lookup.cpp - embedding rows, labelled elements, padded ends --------===//
#include "test/evaluator/ops.h"

using namespace mlir;

namespace mtc::eval {

static Shape with(Shape index, int64_t last) {
  index.push_back(last);
  return index;
}

/// Calls `visit(index of the id, local row)` for every id whose row is here.
template <typename Fn>
static void forLocal(const Call &c, const Tensor &ids, int64_t size, Fn visit) {
  forEachIndex(ids.shape, [&](const Shape &index) {
    int64_t row = ids.ints[offsetOf(ids.shape, index)] - c.indexOffset();
    if (row >= 0 && row < size)
      visit(index, row);
  });
}

static void iota(tfm::IotaOp op, Call &c) {
  Tensor numbers{c.out[0].shape, {}, {}};
  forEachIndex(numbers.shape, [&](const Shape &index) {
    numbers.ints.push_back(c.globalPosition(index[op.getDim()]));
  });
  c.out[0] = numbers;
}

static void indexFrom(tfm::IndexFromOp op, Call &c) {
  Tensor numbers{c.out[0].shape, {}, {}};
  forEachIndex(numbers.shape, [&](const Shape &index) {
    numbers.ints.push_back(c.globalPosition(index[op.getDim()]) -
                           c.in[0]->ints[offsetOf(numbers.shape, index)]);
  });
  c.out[0] = numbers;
}

static void embed(tfm::EmbedOp, Call &c) {
  const Tensor &table = *c.in[1];
  forLocal(c, *c.in[0], table.shape[0], [&](const Shape &at, int64_t row) {
    for (int64_t e = 0; e < table.shape[1]; ++e)
      c.out[0].at(with(at, e)) = table.at({row, e});
  });
}

static void embedGrad(tfm::EmbedGradOp, Call &c) {
  Tensor &table = c.out[0];
  forLocal(c, *c.in[0], table.shape[0], [&](const Shape &at, int64_t row) {
    for (int64_t e = 0; e < table.shape[1]; ++e)
      table.at({row, e}) += c.in[1]->at(with(at, e));
  });
}

static void pick(tfm::PickOp, Call &c) {
  forLocal(c, *c.in[1], c.in[0]->shape.back(),
           [&](const Shape &at, int64_t col) {
             c.out[0].at(at) = c.in[0]->at(with(at, col));
           });
}

static void pickGrad(tfm::PickGradOp, Call &c) {
  forLocal(c, *c.in[0], c.out[0].shape.back(),
           [&](const Shape &at, int64_t col) {
             c.out[0].at(with(at, col)) = c.in[1]->at(at);
           });
}

static void maskTail(tfm::MaskTailOp op, Call &c) {
  double fill = op.getFill().convertToDouble();
  auto valid = static_cast<int64_t>(op.getValid());
  forEachIndex(c.out[0].shape, [&](const Shape &index) {
    bool keep = index.back() + c.indexOffset() < valid;
    c.out[0].at(index) = keep ? c.in[0]->at(index) : fill;
  });
}

void addLookup(Handlers &h) {
  on<tfm::IotaOp>(h, iota);
  on<tfm::IndexFromOp>(h, indexFrom);
  on<tfm::EmbedOp>(h, embed);
  on<tfm::EmbedGradOp>(h, embedGrad);
  on<tfm::PickOp>(h, pick);
  on<tfm::PickGradOp>(h, pickGrad);
  on<tfm::MaskTailOp>(h, maskTail);
}

} // namespace mtc::eval
