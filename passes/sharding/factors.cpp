//===- factors.cpp - which factor each op splits on an axis ---------------===//
#include "passes/sharding/axis.h"

namespace mtc::sharding {

State requiredInFull(const Graph &graph, const Factors &factors, int i, int k) {
  char factor = factors.split[i] ? factors.split[i] : factors.weak[i];
  return factor ? dimOf(graph.ops[i].rule.operands[k], factor) : kReplicated;
}

namespace {

/// The split that all readers of a value require, or kReplicated.
State wishOf(const Graph &graph, const Factors &factors,
             const std::vector<Use> &uses) {
  State wish = kReplicated;
  for (Use u : uses) {
    State own =
        u.op < 0 ? kReplicated : requiredInFull(graph, factors, u.op, u.index);
    if (own < 0 || (wish >= 0 && wish != own))
      return kReplicated;
    wish = own;
  }
  return wish;
}

/// Whether a factor comes with an operand, whose dimension is given, or with
/// none: a broadcast's, which readers may not have in parts where it is
/// blocked.
bool isGiven(const GivenDims &given, const Op &op, char factor) {
  if (op.operands.empty())
    return false;
  bool isMade = false;
  for (size_t k = 0; k < op.operands.size(); ++k)
    if (State own = dimOf(op.rule.operands[k], factor); own >= 0) {
      if (given.has(op.operands[k], own))
        return true;
      isMade = true;
    }
  return !isMade || isBlocked(op.rule, factor);
}

/// A factor that some operand suggests.
struct Candidate {
  char factor = 0;
  bool parameter = false;
  int64_t bytes = 0;
  /// Parameters decide, then size; the first of equals wins.
  bool beats(const Candidate &other) const {
    if (parameter != other.parameter)
      return parameter;
    return bytes > other.bytes;
  }
};

class Assigner {
public:
  Assigner(const Graph &graph, const Axis &axis) : graph(graph), axis(axis) {
    factors.split.assign(graph.ops.size(), 0);
    factors.weak.assign(graph.ops.size(), 0);
    factors.strong.assign(graph.values.size(), kReplicated);
    factors.source.assign(graph.values.size(), kReplicated);
  }

  Factors run() {
    for (auto [value, dim] : axis.seeds)
      if (graph.values[value].producer < 0)
        factors.strong[value] = dim;
    for (size_t i = 0; i < graph.ops.size(); ++i) {
      char factor = fromOperands(i);
      if (!factor)
        factor = fromPrimals(graph.ops[i]);
      if (!factor)
        factor = fromSeeds(graph.ops[i]);
      factors.split[i] = factor;
      if (factor)
        apply(graph.ops[i], factor);
    }
    pullFreeFactors();
    if (!axis.weak.axis.empty())
      assignWeakSplits(graph, axis, factors);
    return std::move(factors);
  }

private:
  void remark(size_t i, std::string text) {
    factors.remarks.push_back({static_cast<int>(i), std::move(text)});
  }

  /// Whether the op cannot split a factor over the axis.
  bool isWhole(const Op &op, char factor) const {
    bool isPosition = op.rule.positions.find(factor) != std::string::npos;
    return isBlocked(op.rule, factor) || (isPosition && !axis.headAndTail) ||
           !isDivisible(graph, op, factor, axis.size);
  }

  char fromOperands(size_t i) {
    const Op &op = graph.ops[i];
    Candidate best;
    for (size_t k = 0; k < op.operands.size(); ++k) {
      const Tensor &value = graph.values[op.operands[k]];
      State dim = factors.strong[op.operands[k]];
      if (dim < 0)
        continue;
      Candidate c{op.rule.operands[k][dim], value.parameter, bytesOf(value)};
      if (isWhole(op, c.factor)) {
        if (dimOf(op.rule.gathered, c.factor) >= 0)
          continue;
        remark(i, "operand " + std::to_string(k) + " is split over '" +
                      axis.name + "' on dimension " + std::to_string(dim) +
                      ", which " + op.name + " needs whole: it is gathered");
        continue;
      }
      if (best.factor && best.factor != c.factor)
        remark(i, "operands are split over '" + axis.name +
                      "' on different dimensions: operand " +
                      std::to_string(k) +
                      (c.beats(best) ? " decides" : " is resharded"));
      if (!best.factor || c.beats(best))
        best = c;
    }
    return best.factor;
  }

  /// A cotangent is split as its primal is: also on factors that only the
  /// result has.
  char fromPrimals(const Op &op) const {
    for (size_t r = 0; r < op.results.size(); ++r) {
      int primal = graph.values[op.results[r]].primal;
      State dim = primal < 0 ? kReplicated : factors.strong[primal];
      if (dim < 0)
        continue;
      char factor = op.rule.results[r][dim];
      if (!isWhole(op, factor))
        return factor;
    }
    return 0;
  }

  /// A result that has a place of its own in the table.
  char fromSeeds(const Op &op) const {
    for (size_t r = 0; r < op.results.size(); ++r) {
      auto seed = axis.seeds.find(op.results[r]);
      if (seed == axis.seeds.end())
        continue;
      char factor = op.rule.results[r][seed->second];
      if (!isBlocked(op.rule, factor))
        return factor;
    }
    return 0;
  }

  /// A broadcast makes only the part that its readers require. Without this
  /// each rank would make the whole value and cut it: for the row maximum of a
  /// split vocabulary that is the whole of the logits.
  void pullFreeFactors() {
    auto uses = usesOf(graph);
    GivenDims given(graph);
    for (size_t i = graph.ops.size(); i-- > 0;)
      if (!factors.split[i])
        if (char factor =
                freeFactor(graph, given, factors, uses, static_cast<int>(i))) {
          factors.split[i] = factor;
          apply(graph.ops[i], factor);
        }
  }

  /// Where readers of a partial sum find it split: over an axis that splits the
  /// data, a cotangent that is one goes at once to where its primal lies. What
  /// is made of it is then a sum over the ranks as that of any other.
  State scattered(int value) const {
    int primal = graph.values[value].primal;
    return axis.data && primal >= 0 ? factors.strong[primal] : kReplicated;
  }

  void apply(const Op &op, char factor) {
    for (size_t r = 0; r < op.results.size(); ++r) {
      factors.strong[op.results[r]] = dimOf(op.rule.results[r], factor);
      State made = madeBy(op.rule, factor, r);
      if (!isPartial(made))
        continue;
      factors.source[op.results[r]] = made;
      factors.strong[op.results[r]] = scattered(op.results[r]);
    }
  }

  const Graph &graph;
  const Axis &axis;
  Factors factors;
};

} // namespace

GivenDims::GivenDims(const Graph &graph) : dims(graph.values.size()) {
  for (const Op &op : graph.ops)
    for (size_t r = 0; r < op.results.size(); ++r)
      for (char factor : op.rule.results[r])
        dims[op.results[r]].push_back(isGiven(*this, op, factor));
}

bool GivenDims::has(int value, State dim) const {
  const std::vector<bool> &own = dims[value];
  return own.empty() || own[dim];
}

char freeFactor(const Graph &graph, const GivenDims &given,
                const Factors &factors,
                const std::vector<std::vector<Use>> &uses, int i) {
  const Op &op = graph.ops[i];
  char factor = 0;
  for (size_t r = 0; r < op.results.size(); ++r) {
    State dim = wishOf(graph, factors, uses[op.results[r]]);
    if (dim < 0 || (factor && factor != op.rule.results[r][dim]))
      return 0;
    factor = op.rule.results[r][dim];
  }
  if (!factor || isBlocked(op.rule, factor))
    return 0;
  for (size_t k = 0; k < op.operands.size(); ++k)
    if (State dim = dimOf(op.rule.operands[k], factor);
        dim >= 0 && given.has(op.operands[k], dim))
      return 0;
  return factor;
}

Factors assignFactors(const Graph &graph, const Axis &axis) {
  return Assigner(graph, axis).run();
}

} // namespace mtc::sharding
