//===- small_graph.h - tiny programs on one axis ----------------*- C++ -*-===//
#ifndef MTC_TEST_SHARDING_SMALL_GRAPH_H
#define MTC_TEST_SHARDING_SMALL_GRAPH_H

#include "tape.h"

namespace mtc::sharding::test {

/// A tape with one axis of two parts, and sums that are partial over it.
struct Small {
  Tape tape;
  Axis axis{"tp", 2, false, {}};

  /// A parameter split on `dim` over the axis.
  int split(Shape shape, State dim) {
    int v =
        tape.parameter("w" + std::to_string(tape.graph.values.size()), shape);
    axis.seeds[v] = dim;
    return v;
  }
  /// A partial sum [rows, 4]: a contraction over a split dimension.
  int partial(int64_t rows = 4) {
    return tape.einsum("am,mb->ab", split({rows, 2}, 1), split({2, 4}, 0));
  }
  int full(int64_t rows = 4) { return tape.input({rows, 4}); }
  int scale(int x) {
    return tape.op("scale", {x}, {{"ab"}, {"ab"}, "", {{0}}})[0];
  }
  void output(int v) { tape.graph.outputs.push_back({v}); }

  Plan plan() { return planShardings(tape.graph, {axis}); }
};

/// The operands of the op that makes a value.
inline std::vector<int> operandsOf(const Graph &graph, int value) {
  return graph.ops[graph.values[value].producer].operands;
}

} // namespace mtc::sharding::test
#endif // MTC_TEST_SHARDING_SMALL_GRAPH_H
