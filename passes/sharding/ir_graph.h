//===- ir_graph.h - @microbatch as a sharding graph and back ----*- C++ -*-===//
#ifndef MTC_PASSES_SHARDING_IR_GRAPH_H
#define MTC_PASSES_SHARDING_IR_GRAPH_H

#include "dialects/dist/Dist.h"
#include "dialects/tfm/Tfm.h"
#include "passes/sharding/plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mtc::sharding {

/// Attribute of an op (also of the return): per operand the sharding it needs.
/// Made by propagate-shardings, removed by insert-collectives.
inline constexpr llvm::StringLiteral requiredAttrName = "dist.required";

/// The function and its graph. Value i of the graph is `values[i]`; the op with
/// tag t is `ops[t]`. Holds no ownership; stale once the function changes.
struct IrGraph {
  mlir::func::FuncOp fn;
  dist::MeshAttr mesh;
  Graph graph;
  std::vector<Axis> axes; ///< as in the mesh; axes of size 1 split nothing
  std::vector<mlir::Value> values;
  std::vector<mlir::Operation *> ops;

  /// The op with this index in the graph; null for -1 and for new ops.
  mlir::Operation *opAt(int index) const;
};

/// Calls `each` on the functions of a module that a microbatch runs
/// (passes/microbatch.h), up to the first that fails; emits an error if there
/// is none, or no mesh.
mlir::LogicalResult onMicrobatches(
    mlir::ModuleOp module,
    llvm::function_ref<mlir::LogicalResult(mlir::func::FuncOp)> each);

/// Reads a function on global types. Emits an error at ops without a rule.
mlir::FailureOr<IrGraph> readGraph(mlir::func::FuncOp fn);

/// Makes the function's sums those of the graph after planShardings; sets
/// values and ops of what is new.
void writeAdds(IrGraph &ir);

/// The states of all axes as one attribute. `state(axis)` gives each.
dist::ShardingAttr shardingFrom(dist::MeshAttr mesh, int64_t rank,
                                llvm::function_ref<State(size_t)> state);
/// The reverse: one state per axis of the mesh.
std::vector<State> statesOf(dist::MeshAttr mesh, dist::ShardingAttr sharding);

/// The rule of an op's family; emits an error if there is none.
mlir::FailureOr<Rule> ruleOf(mlir::Operation *op);

int64_t rankOf(mlir::Value value);

} // namespace mtc::sharding
#endif // MTC_PASSES_SHARDING_IR_GRAPH_H
