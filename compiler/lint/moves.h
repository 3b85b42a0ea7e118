//===- moves.h - changes of a strategy that save memory ---------*- C++ -*-===//
#ifndef MTC_COMPILER_LINT_MOVES_H
#define MTC_COMPILER_LINT_MOVES_H

#include "compiler/lint/rules.h"

namespace mtc::compiler {

/// One idea, of one key or of keys that only change together, and what it costs
/// beside others; no unit.
struct Move {
  models::Changes changes;
  double cost = 0;
};

/// What may save memory of a rank, in the order of `kAxes` and of strategies.
/// `inFlight`: microbatches, see mostInFlight.
std::vector<Move> memoryMoves(const models::ModelSpec &spec,
                              const models::StrategyKeys &keys,
                              const models::Strategy &strategy,
                              int64_t inFlight);

/// Each move, and each two that change different keys, cheapest first; of equal
/// ones the earlier.
std::vector<Move> upToTwo(const std::vector<Move> &moves);

} // namespace mtc::compiler
#endif // MTC_COMPILER_LINT_MOVES_H
