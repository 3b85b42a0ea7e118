//===- index_use.cpp - which dimensions are used by index -----------------===//
#include "passes/sharding/index_use.h"

#include "passes/families/family.h"

using namespace mlir;

namespace mtc::sharding {

/// Factors whose index on a rank matters. The sample (dimension 0) does not:
/// samples have absolute numbers of their own.
static std::string indexedFactors(const families::ShardingRule &rule) {
  return rule.numbered ? rule.results[0].substr(1) : rule.masked + rule.indexed;
}

FailureOr<std::optional<IndexUse>> indexUseOf(Operation *op,
                                              dist::MeshAttr mesh) {
  auto family = dyn_cast<families::FamilyOpInterface>(op);
  if (!family)
    return std::optional<IndexUse>();
  families::ShardingRule rule = family.getShardingRule();
  std::string indexed = indexedFactors(rule);
  std::optional<IndexUse> use;
  auto look = [&](Value value, const std::string &factors) {
    std::vector<State> states = statesOf(mesh, dist::shardingOf(value));
    for (auto [a, axis] : llvm::enumerate(mesh.getAxes())) {
      if (states[a] < 0 || dimOf(indexed, factors[states[a]]) < 0)
        continue;
      int64_t size =
          cast<RankedTensorType>(value.getType()).getDimSize(states[a]);
      int64_t dim = rule.numbered ? states[a] : -1;
      if (use && use->axis != axis.getValue())
        return false;
      use = IndexUse{axis.getValue(), size, dim};
    }
    return true;
  };
  bool isOne = true;
  for (auto [value, factors] : llvm::zip(op->getOperands(), rule.operands))
    isOne &= look(value, factors);
  for (auto [value, factors] : llvm::zip(op->getResults(), rule.results))
    isOne &= look(value, factors);
  if (!isOne)
    return op->emitOpError(
        "expected indices that one mesh axis splits, found two");
  return use;
}

} // namespace mtc::sharding
