//===- Cluster.h - a run of ops that becomes one kernel ---------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_CLUSTER_H
#define MTC_PASSES_PLAN_CLUSTER_H

#include "dialects/rt/KernelStructure.h"
#include "passes/families/kernel_body.h"
#include "passes/plan/Domain.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

#include <string>

namespace mtc::passes {

/// Kernels of one program; those of the same structure are shared.
class KernelPool {
public:
  /// `program` receives the rt.kernel ops, at its start; those that it has
  /// already are shared, too.
  explicit KernelPool(mlir::Block *program);
  /// Takes a detached kernel; returns the name of it or of one like it. Names
  /// are "kernel" and a number, in the order in which kernels come.
  std::string add(rt::KernelOp kernel);

private:
  mlir::Block *program;
  rt::KernelSet kernels;
};

/// An op that adds its operand to an accumulator: pipe.accumulate, pipe.loss.
bool isSink(mlir::Operation *op);
/// The rule of a sink, or of an op with a family. A sink lies in the domain
/// like an op whose result has the operand's shape: the accumulator.
families::ShardingRule ruleOf(mlir::Operation *op);
/// The sink that is the only reader of `value`, or null. The producer of such a
/// value may add to the accumulator itself, if it is a GEMM or a sum over rows.
mlir::Operation *soleSink(mlir::Value value);

/// Gives the f32 accumulator of a sink, an rt.ref that stands before all ops of
/// the fragment; null after a diagnostic.
using AccumulatorOf = llvm::function_ref<mlir::Value(mlir::Operation *sink)>;

/// Ops that run in one loop nest, in program order. Sinks are such ops, too:
/// they add each element to the accumulator's.
class Cluster {
public:
  Cluster(rt::Affine sampleBase) : sampleBase(sampleBase) {}
  /// Adds `op` if it fits; false if it does not.
  bool tryAdd(mlir::Operation *op);
  /// True if an op of the cluster sums `value` over its rows: the value is
  /// complete only after the last row. If a sink is its only reader, `emit`
  /// adds to the accumulator in place and erases the sink.
  bool sums(mlir::Value value) const { return summed.lookup(value); }
  /// Makes the kernel and its launch before `before`, replaces the uses of the
  /// results outside the cluster, and erases the ops. Fails after a diagnostic
  /// of `accumulatorOf`.
  mlir::LogicalResult emit(mlir::Operation *before, KernelPool &pool,
                           AccumulatorOf accumulatorOf);

private:
  struct Operand {
    mlir::Value buffer; ///< null: an output
    rt::OperandAttr info;
    mlir::Value element; ///< loaded once
  };
  struct Emission;
  bool mayGrow(mlir::Operation *op) const;
  llvm::SmallVector<mlir::Value> operandsOf(Emission &e, mlir::Operation *op,
                                            const Placement &placement);
  mlir::LogicalResult emitSum(Emission &e, mlir::Operation *op,
                              const Placement &placement, mlir::ValueRange in,
                              AccumulatorOf accumulatorOf);
  mlir::LogicalResult emitSink(Emission &e, mlir::Operation *op,
                               const Placement &placement, mlir::Value value,
                               AccumulatorOf accumulatorOf);
  mlir::LogicalResult emitStores(Emission &e, mlir::Operation *op,
                                 const Placement &placement,
                                 mlir::ValueRange in);
  void makeLaunch(Emission &e, KernelPool &pool);

  llvm::SmallVector<mlir::Operation *> ops;
  std::vector<Placement> placements;
  llvm::DenseMap<mlir::Value, DimMap> known; ///< looked up only
  llvm::DenseMap<mlir::Value, bool> summed;  ///< looked up only
  Domain domain;
  rt::Affine sampleBase;
};

/// Sample id of row 0 of a microbatch on this rank: affine in microbatch and
/// dp.
rt::Affine sampleBaseOf(mlir::ModuleOp module);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_CLUSTER_H
