//===- weak.cpp - sequence parallelism: splits that do not propagate ------===//
#include "passes/sharding/axis.h"

#include <algorithm>
#include <map>

namespace mtc::sharding {

//===--- logical axes -----------------------------------------------------===//

namespace {

using Labels = std::map<char, std::string>; ///< by factor

/// Calls `use(value, factors)` for the operands and results of an op.
template <typename Use> void forEachValue(const Op &op, Use &&use) {
  for (size_t k = 0; k < op.operands.size(); ++k)
    use(op.operands[k], op.rule.operands[k]);
  for (size_t r = 0; r < op.results.size(); ++r)
    use(op.results[r], op.rule.results[r]);
}

Labels labelsOf(const Graph &graph, const Op &op) {
  Labels labels;
  forEachValue(op, [&](int value, const std::string &factors) {
    const std::vector<std::string> &axes = graph.values[value].axes;
    for (size_t dim = 0; dim < std::min(axes.size(), factors.size()); ++dim)
      if (labels[factors[dim]].empty())
        labels[factors[dim]] = axes[dim];
  });
  return labels;
}

void labelValues(Graph &graph, const Op &op) {
  Labels labels = labelsOf(graph, op);
  forEachValue(op, [&](int value, const std::string &factors) {
    std::vector<std::string> &axes = graph.values[value].axes;
    for (size_t dim = 0; dim < factors.size(); ++dim)
      if (axes[dim].empty())
        axes[dim] = labels[factors[dim]];
  });
}

} // namespace

void labelAxes(Graph &graph) {
  for (Tensor &value : graph.values) {
    value.axes.resize(value.shape.size());
    if (value.primal < 0)
      continue;
    const std::vector<std::string> &primal = graph.values[value.primal].axes;
    for (size_t dim = 0; dim < std::min(primal.size(), value.axes.size());
         ++dim)
      if (value.axes[dim].empty())
        value.axes[dim] = primal[dim];
  }
  for (const Op &op : graph.ops)
    labelValues(graph, op);
  // What is made of nothing, or broadcast, learns its axes from its readers.
  for (size_t i = graph.ops.size(); i-- > 0;)
    labelValues(graph, graph.ops[i]);
}

//===--- choice -----------------------------------------------------------===//

namespace {

class WeakAssigner {
public:
  WeakAssigner(const Graph &graph, const Axis &axis, Factors &factors)
      : graph(graph), axis(axis), factors(factors), uses(usesOf(graph)),
        given(graph) {}

  void run() {
    for (size_t i = 0; i < graph.ops.size(); ++i)
      if (!factors.split[i]) {
        char own = factorOf(graph.ops[i]);
        factors.weak[i] = own ? own : passedOn(graph.ops[i]);
      }
    for (size_t i = graph.ops.size(); i-- > 0;) {
      if (factors.weak[i] && isGatheredAtOnce(graph.ops[i], factors.weak[i]))
        factors.weak[i] = 0;
      else if (!factors.split[i] && !factors.weak[i])
        factors.weak[i] =
            freeFactor(graph, given, factors, uses, static_cast<int>(i));
    }
  }

private:
  /// The only factor of the axis, if the op can be split there and works on
  /// the residual stream: in cross entropy, a collective more of the same
  /// bytes would be all that comes of it.
  char factorOf(const Op &op) const {
    char found = 0;
    bool isBeside = false;
    for (const auto &[factor, label] : labelsOf(graph, op)) {
      isBeside |= label == axis.weak.beside;
      if (label != axis.weak.axis)
        continue;
      if (found)
        return 0;
      found = factor;
    }
    // A table's gradient would be summed over ranks as a whole.
    bool isTable = !op.rule.masked.empty() && contracts(op.rule, found);
    bool fits = found && isBeside && !isBlocked(op.rule, found) && !isTable &&
                divides(op, found);
    return fits ? found : 0;
  }

  /// What only passes its operand on, such as a save, has the split of it also
  /// where it has nothing beside: the statistics of a norm are rows.
  char passedOn(const Op &op) const {
    if (op.operands.size() != 1 || op.results.size() != 1 ||
        op.rule.operands != op.rule.results)
      return 0;
    const Tensor &value = graph.values[op.operands[0]];
    char weak = value.producer < 0 ? 0 : factors.weak[value.producer];
    if (!weak)
      return 0;
    const Op &producer = graph.ops[value.producer];
    for (size_t r = 0; r < producer.results.size(); ++r)
      if (producer.results[r] == op.operands[0])
        if (State dim = dimOf(producer.rule.results[r], weak); dim >= 0)
          return op.rule.operands[0][dim];
    return 0;
  }

  bool divides(const Op &op, char factor) const {
    bool all = true;
    forEachValue(op, [&](int value, const std::string &factors) {
      State dim = dimOf(factors, factor);
      all &= dim < 0 || graph.values[value].shape[dim] % axis.size == 0;
    });
    return all;
  }

  /// True if all that is made of a split result are whole gradients of
  /// parameters.
  bool isGatheredAtOnce(const Op &op, char factor) const {
    for (size_t r = 0; r < op.results.size(); ++r)
      if (dimOf(op.rule.results[r], factor) >= 0 &&
          !uses[op.results[r]].empty())
        return std::all_of(uses[op.results[r]].begin(),
                           uses[op.results[r]].end(),
                           [&](Use u) { return makesGradients(u); });
    return false;
  }

  bool isGradient(Use u) const {
    return u.op < 0 && graph.outputs[u.index].kind == OutputKind::Gradient;
  }

  bool makesGradients(Use u) const {
    if (u.op < 0)
      return isGradient(u);
    if (factors.split[u.op] || factors.weak[u.op])
      return false;
    const std::vector<int> &results = graph.ops[u.op].results;
    return std::all_of(results.begin(), results.end(), [&](int value) {
      return std::all_of(uses[value].begin(), uses[value].end(),
                         [&](Use next) { return isGradient(next); });
    });
  }

  const Graph &graph;
  const Axis &axis;
  Factors &factors;
  std::vector<std::vector<Use>> uses;
  GivenDims given;
};

} // namespace

void assignWeakSplits(const Graph &graph, const Axis &axis, Factors &factors) {
  WeakAssigner(graph, axis, factors).run();
}

} // namespace mtc::sharding
