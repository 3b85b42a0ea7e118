//===- einsum.cpp - contraction of two tensors by letters -----------------===//
#include "test/evaluator/ops.h"

using namespace mlir;

namespace mtc::eval {

namespace {
/// "ab,bc->ac", split at the comma and the arrow.
struct Letters {
  std::string lhs, rhs, result;
  explicit Letters(const std::string &text) {
    size_t comma = text.find(','), arrow = text.find("->");
    lhs = text.substr(0, comma);
    rhs = text.substr(comma + 1, arrow - comma - 1);
    result = text.substr(arrow + 2);
  }
};
} // namespace

/// Per letter of `all` the distance of neighbours in a tensor with `letters`; 0
/// where it lacks the letter.
static Shape stridesOf(const std::string &letters, const Shape &shape,
                       const std::string &all) {
  Shape strides(all.size(), 0);
  int64_t stride = 1;
  for (size_t d = letters.size(); d-- > 0; stride *= shape[d])
    strides[all.find(letters[d])] = stride;
  return strides;
}

static int64_t dot(const Shape &index, const Shape &strides) {
  int64_t sum = 0;
  for (size_t d = 0; d < index.size(); ++d)
    sum += index[d] * strides[d];
  return sum;
}

/// Every combination of all letters adds one product.
static void einsum(tfm::EinsumOp op, Call &c) {
  Letters letters(op.getEquation().str());
  std::map<char, int64_t> size;
  for (size_t d = 0; d < letters.lhs.size(); ++d)
    size[letters.lhs[d]] = c.in[0]->shape[d];
  for (size_t d = 0; d < letters.rhs.size(); ++d)
    size[letters.rhs[d]] = c.in[1]->shape[d];
  std::string all;
  Shape sizes;
  for (auto [letter, n] : size) {
    all.push_back(letter);
    sizes.push_back(n);
  }
  Shape lhs = stridesOf(letters.lhs, c.in[0]->shape, all);
  Shape rhs = stridesOf(letters.rhs, c.in[1]->shape, all);
  Shape result = stridesOf(letters.result, c.out[0].shape, all);
  // The last letter is the inner loop: this op dominates the tests' time.
  int64_t inner = sizes.back();
  sizes.back() = 1;
  forEachIndex(sizes, [&](const Shape &index) {
    double *to = &c.out[0].reals[dot(index, result)];
    const double *x = &c.in[0]->reals[dot(index, lhs)];
    const double *y = &c.in[1]->reals[dot(index, rhs)];
    for (int64_t i = 0; i < inner; ++i)
      to[i * result.back()] += x[i * lhs.back()] * y[i * rhs.back()];
  });
}

void addEinsum(Handlers &h) { on<tfm::EinsumOp>(h, einsum); }

} // namespace mtc::eval
