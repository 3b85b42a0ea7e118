//===- FragmentMemory.h - views for the values of one fragment --*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_FRAGMENTMEMORY_H
#define MTC_PASSES_PLAN_FRAGMENTMEMORY_H

#include "dialects/rt/Rt.h"
#include "passes/plan/KernelPool.h"
#include "passes/plan/MemoryLayout.h"
#include "passes/plan/Params.h"
#include "passes/target/target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <map>
#include <string>
#include <vector>

namespace mtc::passes {

/// Plans one fragment and rewrites it from tensors to views.
class FragmentMemory {
public:
  FragmentMemory(rt::ProgramOp program, mlir::func::FuncOp fn,
                 const ProgramLayout &layout, KernelPool &pool,
                 const target::Target &target)
      : program(program), fn(fn), layout(layout), pool(pool), target(target),
        params(program) {}
  mlir::LogicalResult run();
  int64_t workspaceBytes() const { return workspace; }

private:
  struct Storage {
    bool fixed = false;
    Address address;
    Lifetime life;
  };
  mlir::LogicalResult collect();
  mlir::LogicalResult call(rt::AccessOpInterface op, int64_t index);
  mlir::LogicalResult boundary(mlir::Operation *op, int64_t index);
  mlir::LogicalResult read(mlir::OpOperand &operand, int64_t index);
  mlir::LogicalResult makeInPlace(const rt::Access &access);
  void addStorage(mlir::Value value, int64_t index);
  mlir::LogicalResult fixSource(mlir::Operation *op, Storage &storage);
  void holdUntilWaited(mlir::Operation *op, int64_t index);
  /// Where the value of a pipe.send or pipe.save lies.
  Address addressFor(mlir::Operation *marker) const;
  mlir::LogicalResult fixMarkers();
  mlir::LogicalResult scratchOf(mlir::Operation *op, int64_t index);
  /// The address of element `start` of a part of bucket `index`; fails at `op`.
  mlir::FailureOr<Address> addressOf(mlir::Operation *op, int64_t index,
                                     rt::RefKind kind, llvm::StringRef state,
                                     int64_t start);
  mlir::FailureOr<Address> refAddress(rt::RefOp ref);
  mlir::FailureOr<Address> packedAddress(rt::RefOp ref);
  mlir::FailureOr<ParamSlot> slotOf(rt::RefOp ref);
  mlir::FailureOr<Address> stagingAddress(rt::RefOp ref);
  mlir::LogicalResult touchStaging(mlir::Value buffer, int64_t index);
  mlir::LogicalResult checkRefs();
  void copy(mlir::Operation *marker, mlir::Value from, const Address &to);
  mlir::Value view(mlir::OpBuilder &b, mlir::Value tensor);
  mlir::Value view(mlir::OpBuilder &b, const Address &address, mlir::Type type);
  mlir::LogicalResult rewrite();
  void rewriteCall(rt::AccessOpInterface op);
  mlir::LogicalResult exportSlot(mlir::Operation *op);

  rt::ProgramOp program;
  mlir::func::FuncOp fn;
  const ProgramLayout &layout;
  KernelPool &pool;
  const target::Target &target;
  ParamTable params;
  std::vector<Storage> storages;
  llvm::DenseMap<mlir::Value, int64_t> storageOf;     ///< looked up only
  llvm::DenseMap<mlir::Operation *, int64_t> scratch; ///< looked up only
  std::map<int64_t, int64_t> staging;                 ///< bucket -> its storage
  std::map<int64_t, int64_t> inFlight; ///< collective's place -> its storage
  std::map<int64_t, int64_t> recorded; ///< event of collectives -> its place
  int64_t workspace = 0;
};

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_FRAGMENTMEMORY_H
