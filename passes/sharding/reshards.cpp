//===- reshards.cpp - where shardings have to change ----------------------===//
#include "passes/sharding/plan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace mtc::sharding {
namespace {

using States = std::vector<State>;

class Converter {
public:
  Converter(const Graph &graph, const Plan &plan)
      : graph(graph), plan(plan), uses(usesOf(graph)) {}

  std::vector<Reshard> run() {
    for (size_t v = 0; v < graph.values.size(); ++v)
      convert(static_cast<int>(v));
    sortByPosition();
    return std::move(reshards);
  }

private:
  States produced(int v) const {
    States states;
    for (const AxisPlan &axis : plan.axes)
      states.push_back(axis.state[v]);
    return states;
  }

  States required(Use u) const {
    States states;
    for (const AxisPlan &axis : plan.axes)
      states.push_back(u.op < 0 ? axis.outputRequired[u.index]
                                : axis.required[u.op][u.index]);
    return states;
  }

  bool isBackward(Use u) const { return u.op < 0 || graph.ops[u.op].backward; }

  int add(Reshard r) {
    reshards.push_back(std::move(r));
    return static_cast<int>(reshards.size()) - 1;
  }

  /// On an axis where a partial value is needed full: the one split that all
  /// its readers require (reduce-scatter), else replicated.
  State reducedTo(size_t axis, State from,
                  const std::vector<Use> &readers) const {
    if (from == kMax)
      return kReplicated;
    State wish = required(readers.front())[axis];
    for (Use u : readers)
      if (required(u)[axis] != wish)
        return kReplicated;
    return wish;
  }

  /// Readers for whom some partial axis has to be reduced.
  std::vector<Use> readersInFull(int v, const States &from) const {
    std::vector<Use> readers;
    for (Use u : uses[v]) {
      States needed = required(u);
      for (size_t a = 0; a < from.size(); ++a)
        if (isPartial(from[a]) && needed[a] != from[a]) {
          readers.push_back(u);
          break;
        }
    }
    return readers;
  }

  void convert(int v) {
    States from = produced(v);
    std::vector<Use> readers = readersInFull(v, from);
    std::vector<Use> others = uses[v];
    if (!readers.empty()) {
      States to = from;
      for (size_t a = 0; a < from.size(); ++a)
        if (isPartial(from[a]) && required(readers.front())[a] != from[a])
          to[a] = reducedTo(a, from[a], readers);
      int reduced = add({v, -1, from, to, true, -1, {}});
      serve(v, reduced, to, readers);
      auto isReader = [&](Use u) {
        return std::any_of(readers.begin(), readers.end(), [&](Use r) {
          return r.op == u.op && r.index == u.index;
        });
      };
      others.erase(std::remove_if(others.begin(), others.end(), isReader),
                   others.end());
    }
    serve(v, -1, from, others);
  }

  /// Gives each reader what it requires, starting from `input` in state `from`.
  void serve(int v, int input, const States &from,
             const std::vector<Use> &readers) {
    std::map<std::pair<bool, States>, int> made;
    for (Use u : readers) {
      States needed = required(u);
      if (needed == from) {
        if (input >= 0)
          reshards[input].uses.push_back(u);
        continue;
      }
      auto [it, isNew] = made.try_emplace({isBackward(u), needed}, -1);
      if (isNew)
        it->second = add({v, input, from, needed, false, u.op, {}});
      reshards[it->second].uses.push_back(u);
    }
  }

  /// Twice the op's index; after a producer is odd.
  int64_t position(const Reshard &r) const {
    if (r.afterProducer)
      return 2 * int64_t(graph.values[r.value].producer) + 1;
    return r.before < 0 ? std::numeric_limits<int64_t>::max()
                        : 2 * int64_t(r.before);
  }

  void sortByPosition() {
    std::vector<int> order(reshards.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = static_cast<int>(i);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return position(reshards[a]) < position(reshards[b]);
    });
    std::vector<int> newIndex(order.size());
    for (size_t i = 0; i < order.size(); ++i)
      newIndex[order[i]] = static_cast<int>(i);
    std::vector<Reshard> sorted;
    for (int i : order) {
      sorted.push_back(std::move(reshards[i]));
      if (sorted.back().input >= 0)
        sorted.back().input = newIndex[sorted.back().input];
    }
    reshards = std::move(sorted);
  }

  const Graph &graph;
  const Plan &plan;
  std::vector<std::vector<Use>> uses;
  std::vector<Reshard> reshards;
};

} // namespace

std::vector<Reshard> planReshards(const Graph &graph, const Plan &plan) {
  return Converter(graph, plan).run();
}

static void collectSources(const Graph &graph, const AxisPlan &plan, int value,
                           std::set<int> &seen, std::set<int> &sources) {
  int producer = graph.values[value].producer;
  if (producer < 0 || !seen.insert(producer).second)
    return;
  const Op &op = graph.ops[producer];
  bool carriesOn = false;
  for (size_t k = 0; k < op.operands.size(); ++k)
    if (plan.required[producer][k] == kPartial) {
      carriesOn = true;
      collectSources(graph, plan, op.operands[k], seen, sources);
    }
  if (!carriesOn)
    sources.insert(producer);
}

std::vector<int> sourcesOf(const Graph &graph, const AxisPlan &plan,
                           int value) {
  std::set<int> seen, sources;
  collectSources(graph, plan, value, seen, sources);
  return {sources.begin(), sources.end()};
}

int parameterOperand(const Graph &graph, int op) {
  for (int operand : graph.ops[op].operands)
    if (graph.values[operand].parameter)
      return operand;
  return -1;
}

std::string checkReshard(const std::vector<State> &from,
                         const std::vector<State> &to) {
  for (size_t inner = 0; inner < from.size(); ++inner)
    for (size_t outer = 0; outer < inner; ++outer) {
      State dim = from[inner];
      if (dim < 0 || to[inner] != dim)
        continue;
      if ((from[outer] == dim) != (to[outer] == dim))
        return "expected dimension " + std::to_string(dim) +
               " to be joined from the inner mesh axis outwards, found a "
               "change of an outer axis while an inner one stays";
    }
  return "";
}

} // namespace mtc::sharding
