//===- check.cpp - states against rules -----------------------------------===//
#include "passes/sharding/check.h"

#include <algorithm>

namespace mtc::sharding {

std::string describe(State state) {
  if (state == kReplicated)
    return "replicated";
  if (state == kPartial)
    return "a partial sum";
  if (state == kMax)
    return "a partial maximum";
  return "split on dimension " + std::to_string(state);
}

namespace {

std::string mismatch(const char *what, size_t index, State expected,
                     State found) {
  return expected == found
             ? ""
             : std::string("expected ") + what + " " + std::to_string(index) +
                   " to be " + describe(expected) + ", found " +
                   describe(found);
}

std::string compare(const std::vector<State> &expectedOperands,
                    const std::vector<State> &operands,
                    const std::vector<State> &expectedResults,
                    const std::vector<State> &results) {
  for (size_t k = 0; k < operands.size(); ++k)
    if (operands[k] != expectedOperands[k])
      return mismatch("operand", k, expectedOperands[k], operands[k]);
  for (size_t r = 0; r < results.size(); ++r)
    if (results[r] != expectedResults[r])
      return mismatch("result", r, expectedResults[r], results[r]);
  return "";
}

/// Some operand is partial: exactly one linear group has to be.
std::string checkCarrier(const Rule &rule, const std::vector<State> &operands,
                         const std::vector<State> &results) {
  std::vector<State> allPartial(results.size(), kPartial);
  for (const std::vector<int> &group : rule.linear) {
    std::vector<State> expected(operands.size(), kReplicated);
    for (int k : group)
      expected[k] = kPartial;
    if (expected == operands)
      return compare(expected, operands, allPartial, results);
  }
  size_t k = std::find_if(operands.begin(), operands.end(), isPartial) -
             operands.begin();
  return "expected operand " + std::to_string(k) +
         " in full, or partial together with all that the op is linear in and "
         "nothing split, found " +
         describe(operands[k]);
}

/// The factor that the first split operand, else the first split result names.
char factorOf(const Rule &rule, const std::vector<State> &operands,
              const std::vector<State> &results) {
  for (size_t k = 0; k < operands.size(); ++k)
    if (operands[k] >= 0)
      return rule.operands[k][operands[k]];
  for (size_t r = 0; r < results.size(); ++r)
    if (results[r] >= 0)
      return rule.results[r][results[r]];
  return 0;
}

} // namespace

std::string checkStates(const Rule &rule, const std::vector<State> &operands,
                        const std::vector<State> &results) {
  if (std::any_of(operands.begin(), operands.end(), isPartial))
    return checkCarrier(rule, operands, results);
  char factor = factorOf(rule, operands, results);
  std::vector<State> expectedOperands(operands.size(), kReplicated);
  std::vector<State> expectedResults(results.size(), kReplicated);
  if (!factor)
    return compare(expectedOperands, operands, expectedResults, results);
  if (rule.blocked.find(factor) != std::string::npos)
    return std::string("expected dimension '") + factor +
           "' to be whole, found it split";
  for (size_t k = 0; k < operands.size(); ++k)
    expectedOperands[k] = dimOf(rule.operands[k], factor);
  for (size_t r = 0; r < results.size(); ++r)
    expectedResults[r] = madeBy(rule, factor, r);
  return compare(expectedOperands, operands, expectedResults, results);
}

} // namespace mtc::sharding
