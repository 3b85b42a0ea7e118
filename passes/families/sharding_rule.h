//===- sharding_rule.h - how an op's dimensions correspond ------*- C++ -*-===//
//
// No MLIR type: the algorithm that plans shardings (passes/sharding/graph.h)
// has the same rules as the ops' families.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_FAMILIES_SHARDING_RULE_H
#define MTC_PASSES_FAMILIES_SHARDING_RULE_H

#include <string>
#include <vector>

namespace mtc::families {

/// How an op's dimensions correspond, in letters (einsum notation). A letter is
/// a factor: where it is split, all operands and results that carry it are
/// split on it. A letter of operands that no result has is contracted.
///
///   matmul   {"bse", "ef"} -> {"bsf"}     linear {{0}, {1}}
///   softmax  {"br"} -> {"br"}             blocked "r"
struct ShardingRule {
  std::vector<std::string> operands = {}; ///< letters per operand, in order
  std::vector<std::string> results = {};  ///< one letter per dimension
  std::string blocked = {};               ///< letters that must not be split
  /// Groups of operands which may be partial sums together while all others are
  /// full; the results are then partial (linear in the group).
  std::vector<std::vector<int>> linear = {};
  /// What contraction over a split letter leaves: a partial sum or maximum.
  bool contractsToMax = false;
  /// Operand indices whose values are indices, not summands (ids, labels): the
  /// op tolerates a split result letter by masking (embed, pick).
  /// Such a letter stands in a result or operand only; see embedding.cpp.
  std::string masked = {};
  /// Letters whose index on a rank matters beside the masked ones, such as the
  /// head of attention, whose random words it addresses.
  std::string indexed = {};
  /// Backward of a norm: linear, but never a carrier of partial sums by
  /// default: the gradients of its parameters would be partial, too.
  bool normBackward = false;
  /// Each element has a number, that of its place in the whole sample (random
  /// words): a loop nest must be the op's own, and a split dimension but the
  /// first, which is the sample's, changes local numbers.
  bool numbered = false;
};

} // namespace mtc::families
#endif // MTC_PASSES_FAMILIES_SHARDING_RULE_H
