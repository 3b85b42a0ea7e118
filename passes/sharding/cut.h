//===- cut.h - which sums stay partial: a minimum cut -----------*- C++ -*-===//
#ifndef MTC_PASSES_SHARDING_CUT_H
#define MTC_PASSES_SHARDING_CUT_H

#include "passes/sharding/axis.h"

namespace mtc::sharding {

/// Bytes that reducing a value moves: 2·bytes for an all-reduce; 1·bytes where
/// all users want it split on one dimension (a reduce-scatter). Sizes are
/// global: those of one axis do not depend on the others.
int64_t reductionCost(const Graph &graph, const Factors &factors,
                      const std::vector<Use> &uses, int value);

/// A labelling. Cost: every value that is partial where it is made and that its
/// users want full is reduced once. Outputs that stay partial cost nothing:
/// they are reduced once per step in any case, however many microbatches there
/// are.
struct Cut {
  std::vector<bool> carried; ///< per op: labelled as carrier
  int64_t cost = 0;
};

/// The cheapest labelling of the carriers; of equally cheap ones that which
/// reduces earliest. Exact for this cost, which does not price gathers.
Cut minimumCut(const Graph &graph, const Axis &axis, const Factors &factors,
               const Carriers &carriers);

} // namespace mtc::sharding
#endif // MTC_PASSES_SHARDING_CUT_H
