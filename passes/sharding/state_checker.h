//===- state_checker.h - shardings of local types, op by op -----*- C++ -*-===//
//
// What verify-partitioned and verify-fragments share: whether what is recorded
// on values of local types can be true. Nothing that a planner computed is
// used, only the sharding rules of the ops' families.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_SHARDING_STATE_CHECKER_H
#define MTC_PASSES_SHARDING_STATE_CHECKER_H

#include "passes/sharding/check.h"
#include "passes/sharding/ir_graph.h"

#include <set>

namespace mtc::sharding {

class StateChecker {
public:
  explicit StateChecker(dist::MeshAttr mesh)
      : mesh(mesh), isData(mesh.getAxes().size(), false) {}

  /// One state per axis; a value without a sharding is replicated.
  std::vector<State> states(mlir::Value value) const {
    return statesOf(mesh, dist::shardingOf(value));
  }

  /// Emits an error at `op` unless the local type of `value` is the part of its
  /// global shape that its sharding says. With this, factors that agree on
  /// local sizes (the ops' verifiers) and on states agree on global sizes.
  mlir::LogicalResult checkLocal(mlir::Operation *op, mlir::Value value) const;

  /// Checks an op of tfm against its rule, a collective against what it does,
  /// and that results have shardings. Emits errors.
  mlir::LogicalResult checkOp(mlir::Operation *op) const;

  /// Tells that an input has this sharding: the loss is summed by the update
  /// over the axes that split it.
  void addInput(mlir::Value input);

  /// What is wrong with the states of the loss, in words, or an empty string:
  /// the update sums it over the axes that split inputs, and over no other.
  std::string checkLoss(const std::vector<State> &found) const;

  /// The same of a gradient, with the states of its parameter. Where that is
  /// replicated the gradient may be partial: over axes that split inputs, and
  /// others. The update sums it over `partialAxes`.
  std::string checkGradient(const std::vector<State> &found,
                            const std::vector<State> &parameter) const;

  /// Axes over which a gradient of these states is partial.
  std::set<std::string> partialAxes(const std::vector<State> &states) const;

  const dist::MeshAttr mesh;

private:
  std::string checkState(size_t axis, State found, State expected) const;
  mlir::LogicalResult checkRule(mlir::Operation *op) const;
  mlir::LogicalResult checkIndexUse(mlir::Operation *op) const;
  mlir::LogicalResult checkCollective(mlir::Operation *op) const;
  mlir::LogicalResult checkOtherAxes(mlir::Operation *op, int64_t index,
                                     const std::vector<State> &from,
                                     const std::vector<State> &to) const;

  std::vector<bool> isData; ///< per axis
};

} // namespace mtc::sharding
#endif // MTC_PASSES_SHARDING_STATE_CHECKER_H
