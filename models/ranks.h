//===- ranks.h - a strategy for so many ranks -------------------*- C++ -*-===//
#ifndef MTC_MODELS_RANKS_H
#define MTC_MODELS_RANKS_H

#include <vector>

#include "models/strategy.h"
#include "models/validate.h"

namespace mtc::models {

/// The strategy on `ranks` ranks: where nobody says dp, as many replicas as the
/// other axes leave; one where they leave a rest, which checkRanks reports.
Strategy withRanks(Strategy strategy, int64_t ranks);

/// The violation of `ranks` == the product of all axes; of a strategy from
/// `withRanks`. Empty where it holds.
std::vector<Violation> checkRanks(const Strategy &strategy, int64_t ranks);

} // namespace mtc::models
#endif // MTC_MODELS_RANKS_H
