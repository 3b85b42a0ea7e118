//===- evaluate.h - tfm and dist on N logical ranks, in double --*- C++ -*-===//
//
// The oracle of the compiler's tests: plain loops that follow the text of the
// dialects and of docs/numerics.md, and share nothing with the passes. All
// ranks go through a function op by op; a collective mixes their values.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_EVALUATOR_EVALUATE_H
#define MTC_TEST_EVALUATOR_EVALUATE_H

#include "test/evaluator/mesh.h"
#include "test/evaluator/tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <string>
#include <vector>

namespace mtc::eval {

/// One value: a tensor per rank.
using Ranks = std::vector<Tensor>;

/// What a step block would hold.
struct StepBlock {
  uint64_t seed = 0;
  std::map<std::string, double> fields; ///< of tfm.scalar and tfm.adamw
};

struct Outcome {
  std::vector<Ranks> results;            ///< per result of the function
  std::map<std::string, Ranks> exported; ///< by the name of tfm.export
};

/// Evaluates a function of one block on the ranks of `mesh`. `arguments[i][r]`
/// is argument i on rank r and must have the argument's type. The sample
/// argument of dropout and attention is the absolute id of the *first local*
/// sample, so ranks along dp pass different ones. Emits a diagnostic and fails
/// on an op that it does not know, on shapes that disagree with the types, and
/// on `dist.reshard` on more than one rank (it has no meaning before
/// `partition`; on one rank it is the identity).
///
/// Discardable attributes on ops whose dimension is split:
/// - `dist.index_axis`, `dist.index_stride`: a local index of the dimension
///   that the op uses (rows of a table, the last dimension of pick and
///   mask_tail) plus coordinate·stride is the global one.
/// - `dist.piece_axis`, `dist.piece`: ranks along that axis have two pieces, of
///   so many indices, of the dimension that iota, dropout and the queries of
///   attention are numbered by; where it is split in equal parts as well, these
///   are parts of the two together.
/// - On dropout also `dist.index_dim` and `dist.piece_dim`, the dimensions that
///   are split so (>= 1).
/// - attention with fewer heads than `global_heads`: the rank's heads start at
///   coordinate·heads; the axis is `dist.index_axis`, or "tp" without it.
mlir::FailureOr<Outcome> evaluateFunction(mlir::func::FuncOp fn,
                                          const Mesh &mesh,
                                          const std::vector<Ranks> &arguments,
                                          const StepBlock &step = {});

/// The same on one rank.
mlir::FailureOr<std::vector<Tensor>>
evaluateUnsharded(mlir::func::FuncOp fn, const std::vector<Tensor> &arguments,
                  const StepBlock &step = {});

} // namespace mtc::eval
#endif // MTC_TEST_EVALUATOR_EVALUATE_H
