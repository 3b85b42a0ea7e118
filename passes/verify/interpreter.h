//===- interpreter.h - a fragment on numbers --------------------*- C++ -*-===//
#ifndef MTC_PASSES_VERIFY_INTERPRETER_H
#define MTC_PASSES_VERIFY_INTERPRETER_H

#include "passes/verify/kernel_values.h"
#include "passes/verify/lasting.h"

namespace mtc::passes::verify {

/// Runs fragments of one form on numbers instead of values, once for all
/// microbatches, slots and ranks. What ops do is the same in both forms; where
/// their operands lie is not, and derived classes say it.
class Interpreter {
public:
  Interpreter(const Kernels &kernels, const Lasting &lasting, Numbers &numbers)
      : kernels(kernels), lasting(lasting), numbers(numbers) {}
  virtual ~Interpreter() = default;

  /// Runs `fn` from what is lasting before it. What earlier runs left in slots
  /// is there. Outside of the update a parameter is one value, before and after
  /// a gather: that it is whole where it is read, checkGathers sees to.
  void run(mlir::func::FuncOp fn);
  /// The same without collectives on accumulators.
  void runWithoutSums(mlir::func::FuncOp fn);
  const Contents &after() const { return contents; }
  Number read(const Placement &placement) {
    return contents.read(placement, numbers);
  }

protected:
  /// An op that is no call, no number and no field of the step block.
  virtual void visit(mlir::Operation &op) = 0;
  /// A call whose buffers are not those of its kernel: nothing comes of it.
  virtual void reject(mlir::Operation &call) = 0;
  /// The placement of a value: Nowhere of one that has none.
  virtual Placement placementOf(mlir::Value value);
  /// What an op does with its buffers: none of one that is no call. Fails on
  /// one that `reject` gets.
  mlir::FailureOr<llvm::SmallVector<rt::Access>>
  buffersOf(mlir::Operation &op) const;

  const Kernels &kernels;
  const Lasting &lasting;
  Numbers &numbers;
  Contents contents;
  int64_t chunk = 0; ///< of the fragment that runs
  llvm::DenseMap<mlir::Value, Placement> placements; ///< looked up only

private:
  /// An op that works on buffers, with all that it reads.
  struct Call {
    Recipe recipe;
    llvm::SmallVector<Number> uses = {};
    llvm::SmallVector<Placement> placements = {}; ///< by buffer
    llvm::SmallVector<Number> before = {}; ///< by buffer, of those it reads
    int64_t written = 0;                   ///< buffers so far
  };
  void readUses(mlir::Operation &op, llvm::ArrayRef<rt::Access> buffers,
                Call &call);
  Number made(mlir::Operation &op, const rt::Access &buffer, int64_t i,
              const KernelValues *kernel, Call &call);
  void compute(mlir::Operation &op);
  void readField(rt::StepFieldOp op);
  void move(rt::OffsetViewOp op);
  void call(mlir::Operation &op);
  bool isLeftOut(mlir::Operation &op);
  const KernelValues *kernelOf(mlir::Operation &op) const;
  mlir::Attribute attributesOf(mlir::Operation &op);

  bool withSums = true;                        ///< see runWithoutSums
  bool inUpdate = false;                       ///< of the fragment that runs
  llvm::DenseMap<mlir::Value, Number> scalars; ///< looked up only
  llvm::DenseMap<mlir::Attribute, mlir::Attribute> attributes; ///< cache
};

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_INTERPRETER_H
