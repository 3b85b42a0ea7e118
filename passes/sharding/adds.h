//===- adds.h - sums: flattened, then split by partiality -------*- C++ -*-===//
#ifndef MTC_PASSES_SHARDING_ADDS_H
#define MTC_PASSES_SHARDING_ADDS_H

#include "passes/sharding/axis.h"

namespace mtc::sharding {

/// Merges a sum that is only used by another sum into it, within one layer and
/// phase. Order of operands is kept. Removed ops leave their values behind
/// without producer and use; primals that named them name the outer sum.
void flattenAdds(Graph &graph);

/// Splits every n-ary sum: operands that are surely partial first, then those
/// that are partial only if something else is delayed, the full ones last (trap
/// T3). So as many as possible are added before one reduction. New ops have
/// tag -1 and stand right before the sum that they feed.
void splitAdds(Graph &graph, const Axis &axis);

} // namespace mtc::sharding
#endif // MTC_PASSES_SHARDING_ADDS_H
