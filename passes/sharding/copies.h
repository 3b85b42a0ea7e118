//===- copies.h - ops that compute again what others computed ---*- C++ -*-===//
//
// A copy must be split as its original is, or its bits would be others: a sum
// over ranks adds in another order than one on a rank. So copies have no say in
// the plan. It is made without them, as if what reads a copy read the original,
// and then each takes the states of its original.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_SHARDING_COPIES_H
#define MTC_PASSES_SHARDING_COPIES_H

#include "passes/sharding/plan.h"

#include <map>

namespace mtc::sharding {

/// The copies of a graph, while it is planned without them.
class Copies {
public:
  /// Takes the ops with `copyOf` out of `graph`. What reads a copy then reads
  /// the original. Tags of ops are different, and copies have as many operands
  /// and results as their originals.
  explicit Copies(Graph &graph);

  /// Puts them back where they were, with the states of their originals, on the
  /// copies (or whatever a copy read before) of what their originals read now:
  /// sums are merged and split like theirs, where new ops have tag -1. Copies
  /// of sums that are merged into another one are left out.
  void putBack(Graph &graph, Plan &plan) const;

private:
  friend class Replacer;

  /// A value of the forward as one layer's backward sees it.
  using InLayer = std::pair<int64_t, int>;

  void redirect(Graph &graph, const std::vector<int> &originalOf);

  std::vector<Op> copies;
  std::map<int, size_t> placeOf;       ///< of each op by its tag, before
  std::map<InLayer, int> counterparts; ///< what copies read and make
  std::map<InLayer, int> readInstead;  ///< what other ops read of copies
  std::vector<int> outputs;            ///< values, before
};

} // namespace mtc::sharding
#endif // MTC_PASSES_SHARDING_COPIES_H
