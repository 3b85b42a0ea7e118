//===- Access.h - what ops and kernels do with their buffers ----*- C++ -*-===//
#ifndef MTC_DIALECTS_RT_ACCESS_H
#define MTC_DIALECTS_RT_ACCESS_H

#include "mlir/IR/Value.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallVector.h"

namespace mtc::rt {

/// What is done with one buffer.
struct AccessKind {
  bool reads = false, writes = false;
  /// How often the op adds to each element: once by a GEMM with beta, and by
  /// each rt.accumulate and rt.scatter_add of a kernel.
  int64_t adds = 0;
  bool stores = false;  ///< writes what does not add to what was there
  bool scratch = false; ///< written with nothing that anyone may read
  /// What it adds it stores in the first microbatch of a step, whatever was
  /// there.
  bool storesFirst = false;

  /// Both: a kernel may load and store the same operand.
  void merge(const AccessKind &other) {
    reads |= other.reads;
    writes |= other.writes;
    adds += other.adds;
    stores |= other.stores;
    scratch |= other.scratch;
    storesFirst |= other.storesFirst;
  }
};
inline constexpr AccessKind kReads{true, false, 0, false, false};
inline constexpr AccessKind kStores{false, true, 0, true, false};
inline constexpr AccessKind kScratch{false, true, 0, true, true};
inline constexpr AccessKind kInPlace{true, true, 0, true, false};
inline constexpr AccessKind kAdds{true, true, 1, false, false};
inline constexpr AccessKind kStoresFirst{true, true, 1, false, false, true};

/// What an op does with one of its buffers.
struct Access {
  mlir::Value value;
  AccessKind kind;
  mlir::OpOperand *operand = nullptr; ///< whose value it is; never null
  /// The result that is what an init holds afterwards; null of a memref, which
  /// holds it itself, and of what is not written.
  mlir::Value made;
};

/// Fails, with a diagnostic, if an op has a tensor to write into behind a
/// memref: results are tied to inits by their numbers.
mlir::LogicalResult verifyDestinations(mlir::Operation *op);

/// Effects that are not on buffers: collectives of a rank stay in order, steps
/// of the global norm share its sum and leave its result in the step block,
/// events order streams. The rest of the step block, which the runtime fills
/// between steps, is constant to fragments: reading it is no effect.
struct Communication : mlir::SideEffects::Resource::Base<Communication> {
  llvm::StringRef getName() override { return "communication"; }
};
struct NormSum : mlir::SideEffects::Resource::Base<NormSum> {
  llvm::StringRef getName() override { return "norm"; }
};
struct NormResult : mlir::SideEffects::Resource::Base<NormResult> {
  llvm::StringRef getName() override { return "norm result"; }
};
struct Streams : mlir::SideEffects::Resource::Base<Streams> {
  llvm::StringRef getName() override { return "streams"; }
};

/// Whether an op works on the sum of the norm: a step of it, its sum over
/// ranks, or a product that counts.
bool touchesNorm(mlir::Operation *op);

/// Whether the last step of the norm in a fragment is its reset, so that the
/// next step finds a sum of zero.
bool leavesNormReset(mlir::Operation *fragment);

/// The buffers of an op of a fragment, in order; those of a launch in the order
/// of its kernel's operands. `kernel` holds what the kernel that a launch names
/// does with them. None, if `op` is not an rt.AccessOpInterface. Fails, without
/// a diagnostic, if a launch has not as many buffers as `kernel`, or others to
/// write into than those that it writes.
mlir::FailureOr<llvm::SmallVector<Access>>
accessesOf(mlir::Operation *op, llvm::ArrayRef<AccessKind> kernel);

} // namespace mtc::rt
#endif // MTC_DIALECTS_RT_ACCESS_H
