//===- sharded.h - does an op obey its sharding rule? -----------*- C++ -*-===//
#ifndef MTC_TEST_UNIT_EVALUATOR_SHARDED_H
#define MTC_TEST_UNIT_EVALUATOR_SHARDED_H

#include "passes/families/family.h"
#include "test/evaluator/evaluate.h"

#include <string>

namespace mtc::test {

/// Splits `factor` of the only op of `fn` over 2 ranks of `axis` (in equal
/// parts over "tp", in a head and a tail over "cp") as `rule` says: operands
/// that carry the factor are sliced, others are whole on both ranks. A result
/// with the factor must be the parts of the unsharded one, a
/// result without it the sum (or maximum) over the ranks if an operand carries
/// the factor. Returns an empty text, or what is wrong.
std::string checkSplit(mlir::func::FuncOp fn,
                       const families::ShardingRule &rule, char factor,
                       const std::vector<eval::Tensor> &inputs,
                       llvm::StringRef axis);

/// Gives the operands of linear group `group` as two random summands, one per
/// rank, all others whole: the results must add up to the unsharded ones.
std::string checkLinear(mlir::func::FuncOp fn, const std::vector<int> &group,
                        const std::vector<eval::Tensor> &inputs);

/// All factors that are not blocked, and all linear groups.
std::string checkRule(mlir::func::FuncOp fn,
                      const families::ShardingRule &rule);

} // namespace mtc::test
#endif // MTC_TEST_UNIT_EVALUATOR_SHARDED_H
