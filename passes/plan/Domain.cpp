//===- Domain.cpp - the iteration space of a cluster ----------------------===//
#include "passes/plan/Domain.h"

#include "passes/families/kernel_body.h"

using namespace mlir;

namespace mtc::passes {

using families::ShardingRule;

static ArrayRef<int64_t> shapeOf(Value v) {
  return cast<RankedTensorType>(v.getType()).getShape();
}

/// Factors of operands that no result has and that are looked up, not summed:
/// the rows of a table.
static bool isTableFactor(const ShardingRule &rule, char factor,
                          const std::string &tensor) {
  return rule.masked.find(factor) != std::string::npos &&
         tensor.front() == factor && tensor.size() == 2;
}

bool isTable(const ShardingRule &rule, int64_t operand) {
  const std::string &factors = rule.operands[operand];
  return !factors.empty() && isTableFactor(rule, factors.front(), factors);
}

static bool isPrefix(const DimMap &map, int64_t &length) {
  length = map.size();
  for (size_t i = 0; i < map.size(); ++i)
    if (map[i] != static_cast<int64_t>(i))
      return false;
  return true;
}
static bool isSuffix(const DimMap &map, int64_t rank, int64_t &start) {
  start = rank - static_cast<int64_t>(map.size());
  for (size_t i = 0; i < map.size(); ++i)
    if (map[i] != start + static_cast<int64_t>(i))
      return false;
  return true;
}

bool Domain::requireExact(int64_t k) {
  if ((exact >= 0 && exact != k) || k < atLeast)
    return false;
  exact = k;
  return true;
}
bool Domain::requireAtLeast(int64_t k) {
  if (exact >= 0 && exact < k)
    return false;
  atLeast = std::max(atLeast, k);
  return true;
}

/// Gives every factor of the op a dimension of the domain, from values that are
/// known, else by position in a tensor of the domain's own shape.
bool Domain::alignFactors(Operation *op, const ShardingRule &rule,
                          const llvm::DenseMap<Value, DimMap> &known,
                          std::map<char, int64_t> &factorDim) {
  std::vector<std::pair<std::string, Value>> tensors;
  for (auto [factors, v] : llvm::zip(rule.operands, op->getOperands()))
    if (!factors.empty() && !isTableFactor(rule, factors.front(), factors))
      tensors.push_back({factors, v});
  for (auto [factors, v] : llvm::zip(rule.results, op->getResults()))
    if (!factors.empty() && !isTableFactor(rule, factors.front(), factors))
      tensors.push_back({factors, v});
  for (auto &[factors, v] : tensors)
    if (auto it = known.find(v); it != known.end())
      for (auto [factor, dim] : llvm::zip(factors, it->second)) {
        auto [old, isNew] = factorDim.try_emplace(factor, dim);
        if (!isNew && old->second != dim)
          return false;
      }
  // The largest tensor names the rest: in order, same sizes.
  auto largest =
      std::max_element(tensors.begin(), tensors.end(), [](auto &a, auto &c) {
        return a.first.size() < c.first.size();
      });
  if (largest == tensors.end())
    return true;
  auto shape = shapeOf(largest->second);
  if (dims.size() < shape.size()) {
    // Grow the domain at its end: [b, s] becomes [b, s, v].
    if (!ArrayRef(dims).equals(shape.take_front(dims.size())))
      return false;
    // What filled the domain so far are rows from now on; nothing that was a
    // column can be one any more.
    int64_t before = dims.size();
    if (before > 0 && (!mayGrow || !requireExact(before)))
      return false;
    dims.assign(shape.begin(), shape.end());
  }
  int64_t next = 0;
  for (auto [i, factor] : llvm::enumerate(largest->first)) {
    auto it = factorDim.find(factor);
    if (it == factorDim.end()) {
      while (next < static_cast<int64_t>(dims.size()) && dims[next] != shape[i])
        ++next;
      if (next == static_cast<int64_t>(dims.size()))
        return false;
      it = factorDim.emplace(factor, next).first;
    }
    if (it->second < next || dims[it->second] != shape[i])
      return false;
    next = it->second + 1;
  }
  for (auto &[factors, v] : tensors)
    for (auto [i, factor] : llvm::enumerate(factors)) {
      auto it = factorDim.find(factor);
      if (it == factorDim.end() || dims[it->second] != shapeOf(v)[i])
        return false;
    }
  return true;
}

/// What each tensor's placement says about where rows end.
bool Domain::constrain(const ShardingRule &rule, Operation *op,
                       Placement &placement,
                       const std::map<char, int64_t> &factorDim) {
  int64_t rank = dims.size(), at;
  auto check = [&](const DimMap &map) {
    if (static_cast<int64_t>(map.size()) == rank || map.empty())
      return true;
    if (isPrefix(map, at))
      return requireExact(at);
    mayGrow = false; // it could not be addressed as a row
    return isSuffix(map, rank, at) && requireAtLeast(at);
  };
  for (size_t i = 0; i < placement.operands.size(); ++i)
    if (static_cast<int64_t>(i) != placement.tableOperand &&
        !check(placement.operands[i]))
      return false;
  // Blocked factors (a norm's row) and index factors are the columns.
  std::string columns = rule.blocked + rule.masked;
  for (char factor : columns)
    if (auto it = factorDim.find(factor); it != factorDim.end())
      if (it->second != rank - 1 || !requireExact(rank - 1))
        return false;
  // A result is written once, at its (row, column) or row: not where all rows
  // would write the same column. Sums over rows add up there instead.
  auto checkResults = [&] {
    return llvm::all_of(placement.results, [&](const DimMap &map) {
      return static_cast<int64_t>(map.size()) == rank ||
             (isPrefix(map, at) && requireExact(at));
    });
  };
  if (placement.tableOperand >= 0 || placement.tableResult) { // rows are ids
    mayGrow = false; // a table's rows are the last dimension's
    return isPrefix(placement.operands[0], at) && requireExact(at) &&
           (placement.tableResult || checkResults());
  }
  if (rule.numbered) {
    // Rows are whole samples or parts of one, and the domain's elements are the
    // op's, now and later. A row of two pieces would lie in two places.
    bool inPieces = op->hasAttr(families::pieceAttr);
    if (static_cast<int64_t>(placement.results[0].size()) != rank ||
        !requireAtLeast(inPieces ? 2 : 1))
      return false;
    mayGrow = false;
  }
  if (placement.contracted.empty())
    return checkResults();
  if (static_cast<int64_t>(placement.contracted.size()) == rank &&
      !rule.contractsToMax) {
    placement.accumulates = true;
    return true;
  }
  if (isSuffix(placement.contracted, rank, at))
    return requireExact(at) && checkResults();
  if (!isPrefix(placement.contracted, at) || rule.contractsToMax)
    return false;
  // Rows that are summed while columns stay, or row values summed to a scalar.
  placement.accumulates = true;
  if (placement.results[0].empty())
    return requireExact(at);
  mayGrow = false; // as for an operand of trailing dimensions
  int64_t kept;
  return isSuffix(placement.results[0], rank, kept) && requireAtLeast(at);
}

bool Domain::place(Operation *op, const ShardingRule &rule,
                   const llvm::DenseMap<Value, DimMap> &known,
                   Placement &placement) {
  Domain saved = *this;
  std::map<char, int64_t> factorDim;
  if (!alignFactors(op, rule, known, factorDim)) {
    *this = saved;
    return false;
  }
  auto mapOf = [&](const std::string &factors) {
    DimMap map;
    for (char factor : factors)
      if (auto it = factorDim.find(factor); it != factorDim.end())
        map.push_back(it->second);
    return map;
  };
  std::string resultFactors;
  for (auto [i, factors] : llvm::enumerate(rule.results)) {
    placement.results.push_back(mapOf(factors));
    if (!factors.empty() && isTableFactor(rule, factors.front(), factors))
      placement.tableResult = true;
    resultFactors += factors;
  }
  DimMap contracted;
  for (auto [i, factors] : llvm::enumerate(rule.operands)) {
    placement.operands.push_back(mapOf(factors));
    if (!factors.empty() && isTableFactor(rule, factors.front(), factors)) {
      placement.tableOperand = i;
      continue;
    }
    for (char factor : factors)
      if (resultFactors.find(factor) == std::string::npos)
        if (auto it = factorDim.find(factor);
            it != factorDim.end() &&
            !llvm::is_contained(contracted, it->second))
          contracted.push_back(it->second);
  }
  llvm::sort(contracted);
  placement.contracted = contracted;
  if (placement.tableResult)
    placement.accumulates = true;
  if (!constrain(rule, op, placement, factorDim)) {
    *this = saved;
    return false;
  }
  return true;
}

rt::Mode Domain::resultMode(const DimMap &map, int64_t &extent) const {
  rt::Mode found = mode(map, extent);
  // A scalar is the value of the only row (constrain sees to that).
  return found == rt::Mode::Scalar ? rt::Mode::Row : found;
}

int64_t Domain::rowDims() const { return exact >= 0 ? exact : atLeast; }

int64_t Domain::rows() const {
  int64_t n = 1;
  for (int64_t d = 0; d < rowDims(); ++d)
    n *= dims[d];
  return n;
}
int64_t Domain::cols() const {
  int64_t n = 1;
  for (int64_t d = rowDims(); d < static_cast<int64_t>(dims.size()); ++d)
    n *= dims[d];
  return n;
}

rt::Mode Domain::mode(const DimMap &map, int64_t &extent) const {
  int64_t rank = dims.size(), k = rowDims();
  extent = 0;
  if (static_cast<int64_t>(map.size()) == rank)
    return rt::Mode::Full;
  if (map.empty())
    return rt::Mode::Scalar;
  int64_t at;
  if (isPrefix(map, at) && at == k)
    return rt::Mode::Row;
  isSuffix(map, rank, at);
  if (at == k)
    return rt::Mode::Col;
  extent = 1;
  for (int64_t d = at; d < k; ++d)
    extent *= dims[d];
  return rt::Mode::Periodic;
}

} // namespace mtc::passes
