//===- plan.cpp - states and wishes of all values on all axes -------------===//
#include "passes/sharding/plan.h"

#include "passes/sharding/adds.h"
#include "passes/sharding/copies.h"
#include "passes/sharding/cut.h"

#include <algorithm>

namespace mtc::sharding {
namespace {

/// Turns factors and carriers into states and wishes.
class Finaliser {
public:
  Finaliser(const Graph &graph, const Axis &axis, const Factors &factors,
            const Carriers &carriers, const Cut &cut)
      : graph(graph), axis(axis), factors(factors), carriers(carriers),
        cut(cut) {}

  AxisPlan run() {
    plan.remarks = factors.remarks;
    plan.cost = cut.cost;
    plan.state.assign(graph.values.size(), kReplicated);
    for (auto [value, dim] : axis.seeds)
      plan.state[value] = dim;
    for (size_t i = 0; i < graph.ops.size(); ++i)
      finishOp(static_cast<int>(i));
    for (const Output &output : graph.outputs)
      plan.outputRequired.push_back(outputWish(output));
    return std::move(plan);
  }

private:
  void finishOp(int i) {
    const Op &op = graph.ops[i];
    std::vector<State> required;
    for (size_t k = 0; k < op.operands.size(); ++k)
      required.push_back(requirement(i, static_cast<int>(k)));
    plan.required.push_back(std::move(required));
    for (size_t r = 0; r < op.results.size(); ++r)
      plan.state[op.results[r]] = made(i, r);
  }

  /// An op that carries a partial sum splits nothing, not even weakly.
  State requirement(int i, int k) const {
    if (!cut.carried[i])
      return requiredInFull(graph, factors, i, k);
    return carries(graph, carriers, i, k) ? kPartial : kReplicated;
  }

  State made(int i, size_t r) const {
    const Op &op = graph.ops[i];
    int result = op.results[r];
    if (cut.carried[i])
      return kPartial;
    if (char weak = factors.weak[i])
      return madeBy(op.rule, weak, r);
    return factors.source[result] != kReplicated ? factors.source[result]
                                                 : factors.strong[result];
  }

  State outputWish(const Output &output) const {
    State state = plan.state[output.value];
    if (state == kPartial && mayStayPartial(axis, output))
      return state;
    if (output.kind != OutputKind::Gradient)
      return isPartial(state) ? kReplicated : state;
    auto seed = axis.seeds.find(output.parameter);
    return seed == axis.seeds.end() ? kReplicated : seed->second;
  }

  const Graph &graph;
  const Axis &axis;
  const Factors &factors;
  const Carriers &carriers;
  const Cut &cut;
  AxisPlan plan;
};

} // namespace

Plan planShardings(Graph &graph, const std::vector<Axis> &axes) {
  Plan plan;
  Copies copies(graph);
  flattenAdds(graph);
  labelAxes(graph);
  for (const Axis &axis : axes)
    splitAdds(graph, axis);
  for (const Axis &axis : axes) {
    Factors factors = assignFactors(graph, axis);
    Carriers carriers = findCarriers(graph, axis, factors);
    Cut cut = minimumCut(graph, axis, factors, carriers);
    plan.axes.push_back(Finaliser(graph, axis, factors, carriers, cut).run());
  }
  copies.putBack(graph, plan);
  return plan;
}

} // namespace mtc::sharding
