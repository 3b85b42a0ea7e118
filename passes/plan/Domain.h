//===- Domain.h - the iteration space of a cluster --------------*- C++ -*-===//
//
// A cluster iterates over the dimensions of its largest tensors. The first
// `rowDims` of them are rows, the others columns:
//
//   [batch, seq | ffn]          bias over ffn: a `col` operand
//   [batch, seq | vocab]        labels over batch, seq: a `row` operand
//   [batch, seq | embed]        positions over seq, embed: `periodic`
//
// Which dimension of the domain a tensor's dimension is follows from the
// factors of the sharding rules alone.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_PLAN_DOMAIN_H
#define MTC_PASSES_PLAN_DOMAIN_H

#include "dialects/rt/Rt.h"
#include "passes/families/family.h"

#include "llvm/ADT/DenseMap.h"

#include <map>

namespace mtc::passes {

/// Dimension i of a tensor is dimension map[i] of the domain; ascending.
using DimMap = llvm::SmallVector<int64_t>;

/// The dimension of the domain that each factor of a sharding rule is.
using FactorDims = std::map<char, int64_t>;

/// How an op lies in the domain.
struct Placement {
  std::vector<DimMap> operands; ///< per operand; of a table: the columns only
  std::vector<DimMap> results;
  int64_t tableOperand = -1; ///< operand whose first dimension is looked up
  bool tableResult = false;  ///< result 0 is a table that rows are added to
  bool accumulates = false;  ///< the results are sums over rows
  DimMap contracted;
};

/// True if an op with this rule looks up rows of its operand by index.
bool isTable(const families::ShardingRule &rule, int64_t operand);

/// The domain while a cluster grows.
class Domain {
public:
  llvm::SmallVector<int64_t> dims;
  /// Places `op`; updates dims and the constraints on the row split. Fails (and
  /// changes nothing) if the op does not fit.
  bool place(mlir::Operation *op, const families::ShardingRule &rule,
             const llvm::DenseMap<mlir::Value, DimMap> &known,
             Placement &placement);
  /// Number of leading dimensions that are rows.
  int64_t rowDims() const;
  int64_t rows() const;
  int64_t cols() const;
  /// How a tensor with this map is addressed; extent is set for periodic.
  rt::Mode mode(const DimMap &map, int64_t &extent) const;
  /// The same for a result that is stored: full or row.
  rt::Mode resultMode(const DimMap &map, int64_t &extent) const;

private:
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  bool isFull(const DimMap &map) const { return map.size() == dims.size(); }
  bool alignFactors(mlir::Operation *op, const families::ShardingRule &rule,
                    const llvm::DenseMap<mlir::Value, DimMap> &known,
                    FactorDims &factorDim);
  bool growTo(llvm::ArrayRef<int64_t> shape);
  bool placeInOrder(llvm::StringRef factors, llvm::ArrayRef<int64_t> shape,
                    FactorDims &factorDim) const;
  bool holds(llvm::StringRef factors, llvm::ArrayRef<int64_t> shape,
             const FactorDims &factorDim) const;
  // Each narrows the row split, or fails.
  bool constrain(const families::ShardingRule &rule, mlir::Operation *op,
                 Placement &placement, const FactorDims &factorDim);
  bool constrainOperands(const Placement &placement);
  bool constrainColumns(const families::ShardingRule &rule,
                        const FactorDims &factorDim);
  bool constrainResults(const Placement &placement);
  bool constrainTable(const Placement &placement);
  bool constrainNumbered(mlir::Operation *op, const Placement &placement);
  bool constrainSums(const families::ShardingRule &rule, Placement &placement);
  bool requireExact(int64_t k);
  bool requireAtLeast(int64_t k);

  int64_t exact = -1, atLeast = 0;
  bool mayGrow = true; ///< no placed tensor needs the domain as it is
};

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_DOMAIN_H
