//===- Access.h - what ops and kernels do with their buffers ----*- C++ -*-===//
#ifndef MTC_DIALECTS_RT_ACCESS_H
#define MTC_DIALECTS_RT_ACCESS_H

#include "mlir/IR/Value.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mtc::rt {

/// What is done with one buffer.
struct AccessKind {
  bool reads = false, writes = false;
  /// How often each element is added to.
  int64_t adds = 0;
  bool stores = false; ///< writes what does not add to what was there

  static AccessKind read() { return {true, false, 0, false}; }
  static AccessKind write() { return {false, true, 0, true}; }
  static AccessKind readWrite() { return {true, true, 0, true}; }
  /// Both in one: a kernel may load and store the same operand.
  void merge(const AccessKind &other) {
    reads |= other.reads;
    writes |= other.writes;
    adds += other.adds;
    stores |= other.stores;
  }
};
inline AccessKind addOnce() { return {true, true, 1, false}; }

/// What an op does with one of its operands.
struct Access {
  mlir::OpOperand *operand = nullptr;
  AccessKind kind;
  bool scratch = false; ///< written with nothing that anyone may read
};

/// Effects that are not on buffers: collectives of a rank stay in order, steps
/// of the global norm share its sum, events order streams.
struct Communication : mlir::SideEffects::Resource::Base<Communication> {
  llvm::StringRef getName() override { return "communication"; }
};
struct NormSum : mlir::SideEffects::Resource::Base<NormSum> {
  llvm::StringRef getName() override { return "norm"; }
};
struct Streams : mlir::SideEffects::Resource::Base<Streams> {
  llvm::StringRef getName() override { return "streams"; }
};

} // namespace mtc::rt
#endif // MTC_DIALECTS_RT_ACCESS_H
