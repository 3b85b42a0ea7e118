//===- Domain.cpp - the iteration space of a cluster ----------------------===//
#include "passes/plan/Domain.h"

#include "passes/families/kernel_body.h"

#include <set>
#include <string>
#include <vector>

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

namespace {
/// A tensor that lies in the domain, by its factors.
struct Tensor {
  std::string factors;
  Value value;
};
} // namespace

/// Of an op, all but tables.
static std::vector<Tensor> tensorsOf(Operation *op, const ShardingRule &rule) {
  std::vector<Tensor> tensors;
  auto add = [&](const std::string &factors, Value value) {
    if (!factors.empty() && !isTableFactor(rule, factors.front(), factors))
      tensors.push_back({factors, value});
  };
  for (auto [factors, value] : llvm::zip(rule.operands, op->getOperands()))
    add(factors, value);
  for (auto [factors, value] : llvm::zip(rule.results, op->getResults()))
    add(factors, value);
  return tensors;
}

/// Factors of values that have their places; false: two places for one factor.
static bool takeKnown(const std::vector<Tensor> &tensors,
                      const llvm::DenseMap<Value, DimMap> &known,
                      FactorDims &factorDim) {
  for (const Tensor &tensor : tensors)
    if (auto it = known.find(tensor.value); it != known.end())
      for (auto [factor, dim] : llvm::zip(tensor.factors, it->second)) {
        auto [old, isNew] = factorDim.try_emplace(factor, dim);
        if (!isNew && old->second != dim)
          return false;
      }
  return true;
}

/// At its end, if it is smaller: [b, s] becomes [b, s, v].
bool Domain::growTo(ArrayRef<int64_t> shape) {
  if (dims.size() >= shape.size())
    return true;
  if (!ArrayRef(dims).equals(shape.take_front(dims.size())))
    return false;
  // What filled the domain so far are rows from now on; nothing that was a
  // column can be one any more.
  if (rank() > 0 && (!mayGrow || !requireExact(rank())))
    return false;
  dims.assign(shape.begin(), shape.end());
  return true;
}

/// Gives factors without a dimension the next one of their size.
bool Domain::placeInOrder(StringRef factors, ArrayRef<int64_t> shape,
                          FactorDims &factorDim) const {
  int64_t next = 0;
  for (auto [factor, size] : llvm::zip(factors, shape)) {
    auto it = factorDim.find(factor);
    if (it == factorDim.end()) {
      while (next < rank() && dims[next] != size)
        ++next;
      if (next == rank())
        return false;
      it = factorDim.emplace(factor, next).first;
    }
    if (it->second < next || dims[it->second] != size)
      return false;
    next = it->second + 1;
  }
  return true;
}

/// Whether each factor of a tensor has a dimension of its size.
bool Domain::holds(StringRef factors, ArrayRef<int64_t> shape,
                   const FactorDims &factorDim) const {
  for (auto [factor, size] : llvm::zip(factors, shape))
    if (auto it = factorDim.find(factor);
        it == factorDim.end() || dims[it->second] != size)
      return false;
  return true;
}

/// Gives every factor of the op a dimension of the domain, from values that are
/// known, else by position in a tensor of the domain's own shape.
bool Domain::alignFactors(Operation *op, const ShardingRule &rule,
                          const llvm::DenseMap<Value, DimMap> &known,
                          FactorDims &factorDim) {
  std::vector<Tensor> tensors = tensorsOf(op, rule);
  if (!takeKnown(tensors, known, factorDim))
    return false;
  if (tensors.empty())
    return true;
  // The largest tensor names the rest: in order, same sizes.
  auto largest = llvm::max_element(tensors, [](auto &a, auto &c) {
    return a.factors.size() < c.factors.size();
  });
  ArrayRef<int64_t> shape = shapeOf(largest->value);
  return growTo(shape) && placeInOrder(largest->factors, shape, factorDim) &&
         llvm::all_of(tensors, [&](const Tensor &tensor) {
           return holds(tensor.factors, shapeOf(tensor.value), factorDim);
         });
}

bool Domain::constrainOperands(const Placement &placement) {
  for (auto [i, map] : llvm::enumerate(placement.operands)) {
    if (static_cast<int64_t>(i) == placement.tableOperand || isFull(map) ||
        map.empty())
      continue;
    int64_t at;
    if (isPrefix(map, at)) {
      if (!requireExact(at))
        return false;
      continue;
    }
    mayGrow = false; // it could not be addressed as a row
    if (!isSuffix(map, rank(), at) || !requireAtLeast(at))
      return false;
  }
  return true;
}

/// Blocked factors (a norm's row) and index factors are the columns.
bool Domain::constrainColumns(const ShardingRule &rule,
                              const FactorDims &factorDim) {
  for (char factor : rule.blocked + rule.masked)
    if (auto it = factorDim.find(factor); it != factorDim.end())
      if (it->second != rank() - 1 || !requireExact(rank() - 1))
        return false;
  return true;
}

/// A result is written once, at its (row, column) or row: not where all rows
/// would write the same column. Sums over rows add up there instead.
bool Domain::constrainResults(const Placement &placement) {
  return llvm::all_of(placement.results, [&](const DimMap &map) {
    int64_t at;
    return isFull(map) || (isPrefix(map, at) && requireExact(at));
  });
}

/// Rows are ids.
bool Domain::constrainTable(const Placement &placement) {
  mayGrow = false; // a table's rows are the last dimension's
  int64_t at;
  return isPrefix(placement.operands[0], at) && requireExact(at) &&
         (placement.tableResult || constrainResults(placement));
}

/// Rows are whole samples or parts of one, and the domain's elements are the
/// op's, now and later. A row of two pieces would lie in two places.
bool Domain::constrainNumbered(Operation *op, const Placement &placement) {
  bool inPieces = op->hasAttr(families::pieceAttr);
  if (!isFull(placement.results[0]) || !requireAtLeast(inPieces ? 2 : 1))
    return false;
  mayGrow = false;
  return true;
}

bool Domain::constrainSums(const ShardingRule &rule, Placement &placement) {
  if (isFull(placement.contracted) && !rule.contractsToMax) {
    placement.accumulates = true;
    return true;
  }
  int64_t at;
  if (isSuffix(placement.contracted, rank(), at))
    return requireExact(at) && constrainResults(placement);
  if (!isPrefix(placement.contracted, at) || rule.contractsToMax)
    return false;
  // Rows that are summed while columns stay, or row values summed to a scalar.
  placement.accumulates = true;
  if (placement.results[0].empty())
    return requireExact(at);
  mayGrow = false; // as for an operand of trailing dimensions
  int64_t kept;
  return isSuffix(placement.results[0], rank(), kept) && requireAtLeast(at);
}

/// What each tensor's placement says about where rows end.
bool Domain::constrain(const ShardingRule &rule, Operation *op,
                       Placement &placement, const FactorDims &factorDim) {
  if (!constrainOperands(placement) || !constrainColumns(rule, factorDim))
    return false;
  if (placement.tableOperand >= 0 || placement.tableResult)
    return constrainTable(placement);
  if (rule.numbered && !constrainNumbered(op, placement))
    return false;
  return placement.contracted.empty() ? constrainResults(placement)
                                      : constrainSums(rule, placement);
}

static DimMap mapOf(StringRef factors, const FactorDims &factorDim) {
  DimMap map;
  for (char factor : factors)
    if (auto it = factorDim.find(factor); it != factorDim.end())
      map.push_back(it->second);
  return map;
}

/// The dimensions of factors that operands have and no result.
static DimMap contractedOf(const ShardingRule &rule,
                           const FactorDims &factorDim) {
  std::set<char> kept;
  for (const std::string &factors : rule.results)
    kept.insert(factors.begin(), factors.end());
  std::set<int64_t> contracted;
  for (auto [i, factors] : llvm::enumerate(rule.operands)) {
    if (isTable(rule, static_cast<int64_t>(i)))
      continue;
    for (char factor : factors)
      if (auto it = factorDim.find(factor);
          it != factorDim.end() && !kept.contains(factor))
        contracted.insert(it->second);
  }
  return DimMap(contracted.begin(), contracted.end());
}

static Placement placementOf(const ShardingRule &rule,
                             const FactorDims &factorDim) {
  Placement placement;
  for (const std::string &factors : rule.results) {
    placement.results.push_back(mapOf(factors, factorDim));
    if (!factors.empty() && isTableFactor(rule, factors.front(), factors))
      placement.tableResult = placement.accumulates = true;
  }
  for (auto [i, factors] : llvm::enumerate(rule.operands)) {
    placement.operands.push_back(mapOf(factors, factorDim));
    if (auto operand = static_cast<int64_t>(i); isTable(rule, operand))
      placement.tableOperand = operand;
  }
  placement.contracted = contractedOf(rule, factorDim);
  return placement;
}

bool Domain::place(Operation *op, const ShardingRule &rule,
                   const llvm::DenseMap<Value, DimMap> &known,
                   Placement &placement) {
  Domain saved = *this;
  FactorDims factorDim;
  if (alignFactors(op, rule, known, factorDim)) {
    placement = placementOf(rule, factorDim);
    if (constrain(rule, op, placement, factorDim))
      return true;
  }
  *this = saved;
  return false;
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
  for (int64_t d = rowDims(); d < rank(); ++d)
    n *= dims[d];
  return n;
}

rt::Mode Domain::mode(const DimMap &map, int64_t &extent) const {
  int64_t k = rowDims();
  extent = 0;
  if (isFull(map))
    return rt::Mode::Full;
  if (map.empty())
    return rt::Mode::Scalar;
  int64_t at;
  if (isPrefix(map, at) && at == k)
    return rt::Mode::Row;
  isSuffix(map, rank(), at);
  if (at == k)
    return rt::Mode::Col;
  extent = 1;
  for (int64_t d = at; d < k; ++d)
    extent *= dims[d];
  return rt::Mode::Periodic;
}

} // namespace mtc::passes
