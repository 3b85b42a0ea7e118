//===- axis.h - factor choice and partial carriers on one axis --*- C++ -*-===//
#ifndef MTC_PASSES_SHARDING_AXIS_H
#define MTC_PASSES_SHARDING_AXIS_H

#include "passes/sharding/graph.h"

#include <map>

namespace mtc::sharding {

/// A mesh axis and what it splits from the start.
struct Axis {
  std::string name;
  int64_t size = 1;
  /// True if it splits the batch: the update sums gradients and the loss over
  /// it, once per step, so they stay partial until then.
  bool data = false;
  std::map<int, State> seeds; ///< argument -> dimension
};

struct Remark {
  int op;
  std::string text;
};

/// What the factors of each op say about every value, on one axis.
struct Factors {
  std::vector<char> split;   ///< the factor that each op splits; 0: none
  std::vector<State> strong; ///< per value: a dimension or kReplicated
  std::vector<State> source; ///< per value: kPartial or kMax where contracted
  std::vector<Remark> remarks;
};

/// Chooses a factor for every op: a split of an operand (parameters first, then
/// the larger operand), else the factor that splits the primal of a result,
/// else a factor that only results have and all their readers require split.
Factors assignFactors(const Graph &graph, const Axis &axis);

/// The state that op `i` requires of operand `k` if it carries nothing partial.
State requiredInFull(const Graph &graph, const Factors &factors, int i, int k);

/// Ops that could pass a partial sum on, if all that they read were partial.
struct Carriers {
  std::vector<int> group;      ///< per op: index in rule.linear, or -1
  std::vector<bool> potential; ///< per value: could be a partial sum
};
Carriers findCarriers(const Graph &graph, const Axis &axis,
                      const Factors &factors);

/// True if op `i` carries operand `k`.
bool carries(const Graph &graph, const Carriers &carriers, int i, int k);

/// True if an output may stay partial on the axis until the end of the step.
bool mayStayPartial(const Axis &axis, const Output &output);

} // namespace mtc::sharding
#endif // MTC_PASSES_SHARDING_AXIS_H
