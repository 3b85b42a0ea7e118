//===- Cluster.h - which ops run in one loop nest ---------------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_CLUSTER_H
#define MTC_PASSES_PLAN_CLUSTER_H

#include "passes/families/family.h"
#include "passes/plan/Domain.h"
#include "passes/plan/Params.h"

#include <optional>
#include <string>
#include <vector>

namespace mtc::passes {

/// The rule of a sink, or of an op with a family. A sink lies in the domain
/// like an op whose result has the operand's shape: the accumulator.
families::ShardingRule ruleOf(mlir::Operation *op);

/// An op of a cluster, and how it lies in the domain.
struct Member {
  mlir::Operation *op;
  Placement placement;
  /// A sink of which the sum over rows that makes its operand takes care: it
  /// adds to the accumulator in place.
  bool isInPlace = false;
};

/// Why an op cannot join a cluster.
enum class Misfit {
  NoBody,     ///< it is no arithmetic on elements
  OtherLayer, ///< a cluster has ops of one layer: the same at every pp
  ReadsSum,   ///< of the cluster, complete only after the last row
  OtherDims,  ///< its dimensions do not lie in the cluster's
  Repeated,   ///< what others read would be made again in each row
  SumOfAll    ///< a sum of all rows to one value stands alone
};
/// The rule that it breaks: "expected ...".
std::string describe(Misfit misfit, mlir::Operation *op);

/// Ops that run in one loop nest, in program order. Sinks are such ops, too:
/// they add each element to the accumulator's.
class Cluster {
public:
  /// `params`, the program's, say in what sinks add; they live longer.
  explicit Cluster(const ParamTable &params) : params(&params) {}
  /// Adds `op`; or changes nothing and says why it does not fit. The ops keep
  /// their place in the IR.
  std::optional<Misfit> add(mlir::Operation *op);
  const std::vector<Member> &getMembers() const { return members; }
  const Domain &getDomain() const { return domain; }
  /// The sink that a sum over rows adds to in place of a new value, or null.
  mlir::Operation *sinkOf(mlir::Value sum) const;

private:
  bool isSummedInPlace(mlir::Operation *sink) const;
  std::optional<Misfit> place(mlir::Operation *op, Member &member);
  bool mayGrow(mlir::Operation *op) const;
  bool contains(mlir::Operation *op) const;

  const ParamTable *params;
  std::vector<Member> members;
  llvm::DenseMap<mlir::Value, DimMap> known; ///< looked up only
  llvm::DenseMap<mlir::Value, bool> summed;  ///< looked up only
  Domain domain;
};

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_CLUSTER_H
