//===- axis.h - factor choice and partial carriers on one axis --*- C++ -*-===//
#ifndef MTC_PASSES_SHARDING_AXIS_H
#define MTC_PASSES_SHARDING_AXIS_H

#include "passes/sharding/graph.h"

#include <map>

namespace mtc::sharding {

/// Sequence parallelism: a split of one logical axis that each op takes by
/// itself, if nothing else uses the mesh axis there, and that propagates
/// nowhere (docs/sharding.md). Off where `axis` is empty.
struct WeakSplit {
  std::string axis;   ///< what is split: "seq"
  std::string beside; ///< what the op must have as well: "embed"
};

/// A mesh axis and what it splits from the start.
struct Axis {
  std::string name;
  int64_t size = 1;
  /// True if it splits the batch: the update sums gradients and the loss over
  /// it, once per step, so they stay partial until then.
  bool data = false;
  /// Dimensions of arguments, and of values that lie as parameters do.
  std::map<int, State> seeds;
  WeakSplit weak = {};
  /// True if its ranks have two pieces of a dimension, not one of equal parts.
  bool headAndTail = false;
};

struct Remark {
  int op;
  std::string text;
};

/// What the factors of each op say about every value, on one axis.
struct Factors {
  std::vector<char> split; ///< the factor that each op splits; 0: none
  /// The factor that each op without one in `split` splits weakly, if it
  /// carries nothing partial; 0: none.
  std::vector<char> weak;
  std::vector<State> strong; ///< per value: a dimension or kReplicated
  std::vector<State> source; ///< per value: kPartial or kMax where contracted
  std::vector<Remark> remarks;
};

/// Chooses a factor for every op: a split of an operand (parameters first, then
/// the larger operand), else the factor that splits the primal of a result,
/// else that of a result that `axis.seeds` has, else a factor that only results
/// have and all their readers require split; else, weakly, that of `axis.weak`.
/// Expects labels (labelAxes) for the latter.
Factors assignFactors(const Graph &graph, const Axis &axis);

/// Chooses the weak splits: ops that have one factor of the axis, and one
/// beside it. Left out is what would be gathered at once: values from which
/// only whole gradients of parameters are made.
void assignWeakSplits(const Graph &graph, const Axis &axis, Factors &factors);

/// Which dimensions of values come from arguments, or are a broadcast's. Others
/// have numbers that are made of nothing, also where a look-up or a cast stands
/// between: they can be made in parts.
class GivenDims {
public:
  /// Expects ops in an order in which operands come first.
  explicit GivenDims(const Graph &graph);
  /// `dim` is one of `value`'s.
  bool has(int value, State dim) const;

private:
  std::vector<std::vector<bool>> dims; ///< by value; of arguments none, all are
};

/// A factor that results of op `i` have and no given dimension of an argument
/// has, and that all their readers require split; or 0.
char freeFactor(const Graph &graph, const GivenDims &given,
                const Factors &factors,
                const std::vector<std::vector<Use>> &uses, int i);

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
