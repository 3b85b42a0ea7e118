//===- tensor.h - values of the evaluator -----------------------*- C++ -*-===//
//
// A dense row-major tensor of doubles or of 64-bit integers. Element types of
// the IR are not modelled: f32 and f64 are computed in double, so that the
// evaluator tells mathematics from rounding.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_EVALUATOR_TENSOR_H
#define MTC_TEST_EVALUATOR_TENSOR_H

#include "mlir/IR/BuiltinTypes.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace mtc::eval {

using Shape = std::vector<int64_t>;

/// Number of elements; 1 for a scalar.
int64_t count(const Shape &shape);
/// Row-major position of `index`, which has one entry per dimension.
int64_t offsetOf(const Shape &shape, const Shape &index);
/// Calls `visit` with every index of `shape` in row-major order; a scalar has
/// one, the empty index.
void forEachIndex(const Shape &shape,
                  const std::function<void(const Shape &)> &visit);

/// Exactly one of `reals` and `ints` holds the elements.
struct Tensor {
  Shape shape;
  std::vector<double> reals;
  std::vector<int64_t> ints;

  /// All elements are zero.
  static Tensor zeros(Shape shape);
  static Tensor scalar(int64_t value);
  bool isInteger() const { return reals.empty() && !ints.empty(); }
  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  double &at(const Shape &index) { return reals[offsetOf(shape, index)]; }
  double at(const Shape &index) const { return reals[offsetOf(shape, index)]; }
};

/// Shape of a ranked tensor type with static sizes.
Shape shapeOf(mlir::Type type);

/// Part `part` of `parts` equal contiguous parts of dimension `dim`, whose size
/// `parts` must divide.
Tensor slice(const Tensor &x, int64_t dim, int64_t part, int64_t parts);
/// The inverse of `slice`: parts of one shape, joined on `dim`.
Tensor concat(const std::vector<Tensor> &parts, int64_t dim);

/// The largest |x - y| / max(1, |y|) over the elements; infinite if the shapes
/// differ or exactly one of the two elements is NaN. Equal infinities agree.
double difference(const Tensor &x, const Tensor &y);

} // namespace mtc::eval
#endif // MTC_TEST_EVALUATOR_TENSOR_H
