//===- plan.h - the sharding of every value and the reshards ----*- C++ -*-===//
//
// The whole algorithm of docs/sharding.md on a plain graph.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_SHARDING_PLAN_H
#define MTC_PASSES_SHARDING_PLAN_H

#include "passes/sharding/axis.h"

namespace mtc::sharding {

/// What one axis does to every value.
struct AxisPlan {
  std::vector<State> state;                 ///< per value, as produced
  std::vector<std::vector<State>> required; ///< per op and operand
  std::vector<State> outputRequired;        ///< per output
  std::vector<Remark> remarks;
  int64_t cost = 0; ///< bytes of the reductions (cut.h)
};

struct Plan {
  std::vector<AxisPlan> axes; ///< in the order given; size-1 axes replicate
};

/// Plans every axis on its own. Rewrites the graph: sums are flattened and
/// split (adds.h). Copies have the states of their originals (copies.h). Axes
/// outermost first.
Plan planShardings(Graph &graph, const std::vector<Axis> &axes);

/// One change of sharding and who reads its result.
struct Reshard {
  int value;
  int input = -1; ///< the reshard whose result is read; -1: the value itself
  std::vector<State> from, to; ///< per axis
  bool afterProducer = false;  ///< else right before `before`
  int before = -1;             ///< op; -1: at the end, before the outputs
  std::vector<Use> uses;
};

/// The fewest reshards that make wishes true, in program order: partial values
/// once, right after their producer; others once per value, wish and phase,
/// before the first user.
std::vector<Reshard> planReshards(const Graph &graph, const Plan &plan);

/// The ops from which a partial value got its partial terms, in program order:
/// the ops that contract over the axis, behind everything that only carries.
std::vector<int> sourcesOf(const Graph &graph, const AxisPlan &plan, int value);

/// The first operand of an op that is a parameter, or -1.
int parameterOperand(const Graph &graph, int op);

/// Empty, or why a change cannot be done part by part: a dimension that two
/// axes split is cut from the outside in and joined from the inside out (trap
/// T12).
std::string checkReshard(const std::vector<State> &from,
                         const std::vector<State> &to);

} // namespace mtc::sharding
#endif // MTC_PASSES_SHARDING_PLAN_H
