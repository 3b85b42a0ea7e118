//===- copies.cpp - ops that compute again what others computed -----------===//
#include "passes/sharding/copies.h"

#include <numeric>

namespace mtc::sharding {

//===--- out --------------------------------------------------------------===//

static std::map<int, const Op *> opsByTag(const Graph &graph) {
  std::map<int, const Op *> ops;
  for (const Op &op : graph.ops)
    ops.emplace(op.tag, &op);
  return ops;
}

Copies::Copies(Graph &graph) {
  std::map<int, const Op *> byTag = opsByTag(graph);
  std::vector<int> originalOf(graph.values.size());
  std::iota(originalOf.begin(), originalOf.end(), 0);
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const Op &op = graph.ops[i];
    placeOf[op.tag] = i;
    if (op.copyOf < 0)
      continue;
    const Op &original = *byTag.at(op.copyOf);
    for (size_t k = 0; k < op.operands.size(); ++k)
      counterparts[{op.layer, original.operands[k]}] = op.operands[k];
    for (size_t r = 0; r < op.results.size(); ++r) {
      counterparts[{op.layer, original.results[r]}] = op.results[r];
      originalOf[op.results[r]] = original.results[r];
    }
  }
  std::vector<Op> kept;
  for (Op &op : graph.ops)
    (op.copyOf < 0 ? kept : copies).push_back(std::move(op));
  graph.ops = std::move(kept);
  redirect(graph, originalOf);
  renumber(graph);
}

void Copies::redirect(Graph &graph, const std::vector<int> &originalOf) {
  for (Op &op : graph.ops)
    for (int &value : op.operands)
      if (int original = originalOf[value]; original != value) {
        // The first copy stands before all that read one.
        readInstead.try_emplace({op.layer, original}, value);
        value = original;
      }
  for (Output &output : graph.outputs) {
    outputs.push_back(output.value);
    output.value = originalOf[output.value];
  }
}

//===--- back -------------------------------------------------------------===//

/// Writes the ops of a planned graph anew, with the copies among them.
class Replacer {
public:
  Replacer(const Copies &copies, Graph &graph, Plan &plan)
      : copies(copies), graph(graph), plan(plan),
        counterparts(copies.counterparts), required(plan.axes.size()) {
    for (size_t i = 0; i < graph.ops.size(); ++i)
      if (graph.ops[i].tag >= 0)
        indexOf[graph.ops[i].tag] = i;
  }

  void run() {
    size_t next = 0;
    std::vector<int> newIndex;
    for (size_t i = 0; i < graph.ops.size(); ++i) {
      for (; next < copies.copies.size() && isBefore(next, i); ++next)
        addCopy(copies.copies[next]);
      newIndex.push_back(static_cast<int>(ops.size()));
      add(readingCopies(graph.ops[i]), i);
    }
    for (; next < copies.copies.size(); ++next)
      addCopy(copies.copies[next]);
    for (AxisPlan &axis : plan.axes)
      for (Remark &remark : axis.remarks)
        remark.op = newIndex[remark.op];
    graph.ops = std::move(ops);
    for (size_t a = 0; a < plan.axes.size(); ++a)
      plan.axes[a].required = std::move(required[a]);
  }

private:
  /// Whether a copy stood before op `i`: a new sum is where that is which it
  /// feeds.
  bool isBefore(size_t copy, size_t i) const {
    while (graph.ops[i].tag < 0)
      ++i;
    return copies.placeOf.at(copies.copies[copy].tag) <
           copies.placeOf.at(graph.ops[i].tag);
  }

  Op readingCopies(Op op) const {
    if (op.backward)
      for (int &value : op.operands)
        if (auto it = copies.readInstead.find({op.layer, value});
            it != copies.readInstead.end())
          value = it->second;
    return op;
  }

  /// Appends an op that requires what the planned op `like` does.
  void add(Op op, size_t like) {
    for (size_t a = 0; a < plan.axes.size(); ++a)
      required[a].push_back(plan.axes[a].required[like]);
    ops.push_back(std::move(op));
  }

  void addCopy(Op copy) {
    auto planned = indexOf.find(copy.copyOf);
    if (planned != indexOf.end()) // else merged into another sum
      addLike(std::move(copy), planned->second);
  }

  void addLike(Op copy, size_t like) {
    const Op original = graph.ops[like];
    copy.rule = original.rule;
    copy.operands.clear();
    for (int value : original.operands)
      copy.operands.push_back(counterpart(copy, value));
    for (size_t r = 0; r < copy.results.size(); ++r)
      for (AxisPlan &axis : plan.axes)
        axis.state[copy.results[r]] = axis.state[original.results[r]];
    add(std::move(copy), like);
  }

  /// What `copy` reads where its original reads `value`.
  int counterpart(const Op &copy, int value) {
    auto it = counterparts.find({copy.layer, value});
    if (it != counterparts.end())
      return it->second;
    int producer = graph.values[value].producer;
    bool isNewSum = producer >= 0 && graph.ops[producer].tag < 0;
    return isNewSum ? copyOfNewSum(copy, value) : value;
  }

  int copyOfNewSum(const Op &copy, int value) {
    int made = static_cast<int>(graph.values.size());
    graph.values.push_back(Tensor(graph.values[value]));
    for (AxisPlan &axis : plan.axes)
      axis.state.push_back(kReplicated);
    counterparts[{copy.layer, value}] = made;
    Op sum = copy;
    sum.tag = -1;
    sum.results = {made};
    addLike(std::move(sum), graph.values[value].producer);
    return made;
  }

  const Copies &copies;
  Graph &graph;
  Plan &plan;
  std::map<Copies::InLayer, int> counterparts;
  std::map<int, size_t> indexOf; ///< of planned ops, by tag
  std::vector<Op> ops;
  std::vector<std::vector<std::vector<State>>> required; ///< per axis and op
};

void Copies::putBack(Graph &graph, Plan &plan) const {
  if (copies.empty())
    return;
  Replacer(*this, graph, plan).run();
  for (size_t i = 0; i < outputs.size(); ++i)
    graph.outputs[i].value = outputs[i];
  renumber(graph);
}

} // namespace mtc::sharding
