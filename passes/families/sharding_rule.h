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

/// How an op's dimensions correspond, in factors: every dimension is one, named
/// by a letter as in an einsum. Where a factor is split, all operands and
/// results that carry it are split on it. One that operands have and no result
/// is contracted.
///
///   matmul   {"bse", "ef"} -> {"bsf"}     linear {{0}, {1}}
///   softmax  {"br"} -> {"br"}             blocked "r"
struct ShardingRule {
  std::vector<std::string> operands = {}; ///< factors per operand, in order
  std::vector<std::string> results = {};  ///< one factor per dimension
  std::string blocked = {};               ///< factors that must not be split
  /// Groups of operands which may be partial sums together while all others are
  /// full; the results are then partial (linear in the group).
  std::vector<std::vector<int>> linear = {};
  /// What contraction over a split factor leaves: a partial sum or maximum.
  bool contractsToMax = false;
  /// Operand indices whose values are indices, not summands (ids, labels): the
  /// op tolerates a split result factor by masking (embed, pick).
  /// Such a factor stands in a result or operand only; see embedding.cpp.
  std::string masked = {};
  /// Factors whose index on a rank matters beside the masked ones, such as the
  /// head of attention, whose random words it addresses. Where such a factor
  /// has two sizes, because a head of keys stands for several of queries, the
  /// index is that of the larger.
  std::string indexed = {};
  /// Factors whose index on a rank matters and that only an axis which cuts a
  /// head and a tail may split (AxisInfo of mesh.h): positions of queries.
  std::string positions = {};
  /// Of the blocked factors those that are meant to arrive split and to be
  /// gathered: no remark says so.
  std::string gathered = {};
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
