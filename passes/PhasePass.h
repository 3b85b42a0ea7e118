//===- PhasePass.h - a pass that is a phase ---------------------*- C++ -*-===//
#ifndef MTC_PASSES_PHASEPASS_H
#define MTC_PASSES_PHASEPASS_H

#include "passes/phases.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mtc::passes {

/// The module attribute that names the phase whose result the module is.
inline constexpr llvm::StringLiteral phaseAttr = "mtc.phase";

/// The phase that a module has reached; none if it does not say. Fails, with a
/// diagnostic, if it names no phase.
mlir::FailureOr<std::optional<Phase>> phaseOf(mlir::ModuleOp module);

/// Fails, with a diagnostic, on IR for which `phase` is not the next one. IR
/// that names no phase was written by hand and is taken as it is.
mlir::LogicalResult enterPhase(mlir::ModuleOp module, Phase phase);

/// A module that names its phase has reached this one now.
void leavePhase(mlir::ModuleOp module, Phase phase);

/// The base of every pass that is a phase: its flag is the phase's name.
///
///   struct PartitionPass : PhasePass<impl::PartitionBase<PartitionPass>> {
///     void runPhase() override { ... }
///   };
template <typename Base> class PhasePass : public Base {
public:
  using Base::Base;

protected:
  /// What a pass without this base does in runOnOperation.
  virtual void runPhase() = 0;

private:
  void runOnOperation() final {
    Phase phase = *phaseNamed(this->getArgument());
    if (failed(enterPhase(this->getOperation(), phase)))
      return this->signalPassFailure();
    runPhase();
    if (!this->getPassState().irAndPassFailed.getInt())
      leavePhase(this->getOperation(), phase);
  }
};

} // namespace mtc::passes
#endif // MTC_PASSES_PHASEPASS_H
