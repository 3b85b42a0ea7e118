//===- ops.h - the ops of the evaluator, by family --------------*- C++ -*-===//
#ifndef MTC_TEST_EVALUATOR_OPS_H
#define MTC_TEST_EVALUATOR_OPS_H

#include "test/evaluator/evaluate.h"

#include "dialects/tfm/Tfm.h"

#include <functional>

namespace mtc::eval {

/// One op on one rank.
struct Call {
  mlir::Operation *op;
  const Mesh &mesh;
  const StepBlock &step;
  int64_t rank;
  std::vector<const Tensor *> in;
  std::vector<Tensor> out; ///< zeros of the results' local types

  /// Global index of local index 0 of the dimension whose index the op uses.
  int64_t indexOffset() const;
  /// Size and coordinate of the axis that splits that dimension; 1 and 0 if it
  /// is whole.
  int64_t indexParts() const;
  int64_t indexCoordinate() const;
  /// Global index of local index `local` of a dimension that may be split in a
  /// head and a tail (`dist.piece_axis`) and each of these in equal parts.
  int64_t globalPosition(int64_t local) const;
  /// The second half of that: of an index in both pieces together.
  int64_t fromPieces(int64_t index) const;
  /// The ranks that have pieces; 1 without dist.piece_axis.
  int64_t pieceParts() const;
};

using Handler = std::function<mlir::LogicalResult(Call &)>;
using Handlers = std::map<std::string, Handler>;

void addPointwise(Handlers &handlers);
void addOptimizers(Handlers &handlers);
void addShape(Handlers &handlers);
void addEinsum(Handlers &handlers);
void addLookup(Handlers &handlers);
void addNorm(Handlers &handlers);
void addRandom(Handlers &handlers);
void addAttention(Handlers &handlers);
void addStructure(Handlers &handlers);

/// Registers a handler for an op class; the handler takes the op and the call.
template <typename Op, typename Fn> void on(Handlers &handlers, Fn fn) {
  handlers[Op::getOperationName().str()] = [fn](Call &call) {
    fn(mlir::cast<Op>(call.op), call);
    return mlir::success();
  };
}

/// A collective reads the operand of every rank and gives the result of every
/// rank.
bool isCollective(mlir::Operation *op);
mlir::FailureOr<Ranks> collective(mlir::Operation *op, const Mesh &mesh,
                                  const Ranks &in);

/// The dropout factor of one element: 0 if it is dropped, else
/// fp32(1/(1-rate)) (docs/numerics.md).
double keepFactor(uint64_t seed, int64_t sample, int64_t layer, int64_t site,
                  int64_t element, double rate);

} // namespace mtc::eval
#endif // MTC_TEST_EVALUATOR_OPS_H
