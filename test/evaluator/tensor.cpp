//===- tensor.cpp - values of the evaluator -------------------------------===//
#include "test/evaluator/tensor.h"

#include <cassert>
#include <cmath>
#include <limits>

namespace mtc::eval {

int64_t count(const Shape &shape) {
  int64_t n = 1;
  for (int64_t size : shape)
    n *= size;
  return n;
}

int64_t offsetOf(const Shape &shape, const Shape &index) {
  int64_t offset = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    assert(index[d] >= 0 && index[d] < shape[d] && "index within the shape");
    offset = offset * shape[d] + index[d];
  }
  return offset;
}

void forEachIndex(const Shape &shape,
                  const std::function<void(const Shape &)> &visit) {
  Shape index(shape.size(), 0);
  for (int64_t i = 0, n = count(shape); i < n; ++i) {
    visit(index);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

Tensor Tensor::zeros(Shape shape) {
  Tensor x;
  x.reals.assign(count(shape), 0.0);
  x.shape = std::move(shape);
  return x;
}

Tensor Tensor::scalar(int64_t value) { return {{}, {}, {value}}; }

Shape shapeOf(mlir::Type type) {
  auto shape = mlir::cast<mlir::RankedTensorType>(type).getShape();
  return Shape(shape.begin(), shape.end());
}

/// Copies dimension `dim` of `part`, at `start`, from or to `whole`.
template <typename T, typename Whole, typename Part>
static void copyPart(const Shape &shape, const Shape &partShape, int64_t dim,
                     int64_t start, Whole &whole, Part &part, const T &copy) {
  forEachIndex(partShape, [&](const Shape &index) {
    Shape global = index;
    global[dim] += start;
    copy(whole[offsetOf(shape, global)], part[offsetOf(partShape, index)]);
  });
}

Tensor slice(const Tensor &x, int64_t dim, int64_t part, int64_t parts) {
  assert(x.shape[dim] % parts == 0 && "parts are equal");
  Tensor y;
  y.shape = x.shape;
  y.shape[dim] /= parts;
  int64_t start = part * y.shape[dim];
  auto read = [](const auto &whole, auto &piece) { piece = whole; };
  if (x.isInteger()) {
    y.ints.resize(count(y.shape));
    copyPart(x.shape, y.shape, dim, start, x.ints, y.ints, read);
  } else {
    y.reals.resize(count(y.shape));
    copyPart(x.shape, y.shape, dim, start, x.reals, y.reals, read);
  }
  return y;
}

Tensor concat(const std::vector<Tensor> &parts, int64_t dim) {
  const Shape &piece = parts.front().shape;
  Tensor y;
  y.shape = piece;
  y.shape[dim] *= static_cast<int64_t>(parts.size());
  bool isInteger = parts.front().isInteger();
  (isInteger ? y.ints.resize(count(y.shape)) : y.reals.resize(count(y.shape)));
  auto write = [](auto &whole, const auto &part) { whole = part; };
  for (size_t i = 0; i < parts.size(); ++i) {
    int64_t start = static_cast<int64_t>(i) * piece[dim];
    if (isInteger)
      copyPart(y.shape, piece, dim, start, y.ints, parts[i].ints, write);
    else
      copyPart(y.shape, piece, dim, start, y.reals, parts[i].reals, write);
  }
  return y;
}

double difference(const Tensor &x, const Tensor &y) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (x.shape != y.shape || x.isInteger() != y.isInteger())
    return infinity;
  if (x.isInteger())
    return x.ints == y.ints ? 0.0 : infinity;
  double worst = 0.0;
  for (size_t i = 0; i < x.reals.size(); ++i) {
    if (x.reals[i] == y.reals[i] ||
        (std::isnan(x.reals[i]) && std::isnan(y.reals[i])))
      continue;
    double d =
        std::abs(x.reals[i] - y.reals[i]) / std::max(1.0, std::abs(y.reals[i]));
    worst = std::isfinite(d) ? std::max(worst, d) : infinity;
  }
  return worst;
}

} // namespace mtc::eval
