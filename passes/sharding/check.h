//===- check.h - may an op read operands in these states? -------*- C++ -*-===//
#ifndef MTC_PASSES_SHARDING_CHECK_H
#define MTC_PASSES_SHARDING_CHECK_H

#include "passes/sharding/graph.h"

namespace mtc::sharding {

/// Checks one op on one axis against its rule: either one linear group is
/// partial and all else replicated; or one factor is split wherever it stands;
/// or nothing is split. `results` are the states that are claimed. Returns what
/// is wrong in words ("operand 1 is ..."), or an empty string.
std::string checkStates(const Rule &rule, const std::vector<State> &operands,
                        const std::vector<State> &results);

/// "replicated", "split on dimension 1", "a partial sum", "a partial maximum".
std::string describe(State state);

} // namespace mtc::sharding
#endif // MTC_PASSES_SHARDING_CHECK_H
