//===- graph.cpp - queries on the sharding graph --------------------------===//
#include "passes/sharding/graph.h"

namespace mtc::sharding {

std::vector<std::vector<Use>> usesOf(const Graph &graph) {
  std::vector<std::vector<Use>> uses(graph.values.size());
  for (size_t i = 0; i < graph.ops.size(); ++i)
    for (size_t k = 0; k < graph.ops[i].operands.size(); ++k)
      uses[graph.ops[i].operands[k]].push_back(
          {static_cast<int>(i), static_cast<int>(k)});
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    uses[graph.outputs[i].value].push_back({-1, static_cast<int>(i)});
  return uses;
}

void renumber(Graph &graph) {
  for (Tensor &value : graph.values)
    value.producer = -1;
  for (size_t i = 0; i < graph.ops.size(); ++i)
    for (int result : graph.ops[i].results)
      graph.values[result].producer = static_cast<int>(i);
}

int64_t bytesOf(const Tensor &value) {
  int64_t bytes = value.elementBytes;
  for (int64_t size : value.shape)
    bytes *= size;
  return bytes;
}

State dimOf(const std::string &factors, char factor) {
  size_t at = factors.find(factor);
  return at == std::string::npos ? kReplicated : static_cast<State>(at);
}

static bool stands(const std::vector<std::string> &values, char factor) {
  for (const std::string &factors : values)
    if (dimOf(factors, factor) >= 0)
      return true;
  return false;
}

bool contracts(const Rule &rule, char factor) {
  return stands(rule.operands, factor) && !stands(rule.results, factor);
}

State madeBy(const Rule &rule, char factor, size_t r) {
  State dim = dimOf(rule.results[r], factor);
  if (dim >= 0 || !stands(rule.operands, factor))
    return dim;
  return rule.contractsToMax ? kMax : kPartial;
}

bool isBlocked(const Rule &rule, char factor) {
  return rule.blocked.find(factor) != std::string::npos;
}

bool isDivisible(const Graph &graph, const Op &op, char factor, int64_t ranks) {
  auto fits = [&](const std::vector<int> &values,
                  const std::vector<std::string> &factors) {
    for (size_t i = 0; i < values.size(); ++i)
      if (State dim = dimOf(factors[i], factor);
          dim >= 0 && graph.values[values[i]].shape[dim] % ranks != 0)
        return false;
    return true;
  };
  return fits(op.operands, op.rule.operands) &&
         fits(op.results, op.rule.results);
}

} // namespace mtc::sharding
