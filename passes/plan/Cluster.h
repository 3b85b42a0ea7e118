//===- Cluster.h - a run of ops that becomes one kernel ---------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_CLUSTER_H
#define MTC_PASSES_PLAN_CLUSTER_H

#include "passes/families/kernel_body.h"
#include "passes/plan/Domain.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

#include <string>

namespace mtc::passes {

/// Kernels of one program; equal ones are shared.
class KernelPool {
public:
  /// `program` receives the rt.kernel ops, at its start; those that it has
  /// already are shared, too.
  explicit KernelPool(mlir::Block *program);
  /// Takes a detached kernel; returns the name of it or of an equal one.
  std::string add(rt::KernelOp kernel);

private:
  mlir::Block *program;
  std::map<std::string, std::string> names; ///< text without name -> name
};

/// A sum over rows that leaves the kernel: where it is added to.
struct AccumulationTarget {
  mlir::Value buffer; ///< rt.ref, or null: a new zeroed tensor
};

/// Ops that run in one loop nest, in program order.
class Cluster {
public:
  Cluster(families::AffineArg sampleBase) : sampleBase(sampleBase) {}
  bool empty() const { return ops.empty(); }
  /// Adds `op` if it fits; false if it does not.
  bool tryAdd(mlir::Operation *op);
  /// Makes the kernel and its launch before `before`, replaces the uses of the
  /// results outside the cluster, and erases the ops. `targetOf(value)` gives
  /// the accumulator of a summed value whose only reader is a sink.
  void emit(mlir::Operation *before, KernelPool &pool,
            llvm::function_ref<mlir::Value(mlir::Value)> targetOf);

private:
  struct Operand {
    mlir::Value buffer; ///< null: an output
    rt::OperandAttr info;
    mlir::Value element; ///< loaded once
  };
  struct Emission;

  llvm::SmallVector<mlir::Operation *> ops;
  std::vector<Placement> placements;
  llvm::DenseMap<mlir::Value, DimMap> known; ///< looked up only
  llvm::DenseMap<mlir::Value, bool> summed;  ///< looked up only
  Domain domain;
  families::AffineArg sampleBase;
};

/// Sample id of row 0 of a microbatch on this rank: affine in microbatch and dp.
families::AffineArg sampleBaseOf(mlir::ModuleOp module);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_CLUSTER_H
