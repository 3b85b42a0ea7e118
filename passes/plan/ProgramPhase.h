//===- ProgramPhase.h - a phase that works program by program ---*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_PROGRAMPHASE_H
#define MTC_PASSES_PLAN_PROGRAMPHASE_H

#include "dialects/mtc/Mtc.h"
#include "dialects/rt/Rt.h"
#include "passes/PhasePass.h"

#include "mlir/Pass/PassManager.h"

#include <atomic>
#include <functional>
#include <memory>

namespace mtc::passes {

/// What a phase does with one program; fails after a diagnostic.
using ProgramWork = std::function<mlir::LogicalResult(rt::ProgramOp)>;

/// A pass on one rt.program that does the work of a phase. It does not fail,
/// whatever the work returns: who made it knows.
std::unique_ptr<mlir::Pass> makeProgramPass(llvm::StringRef phase,
                                            ProgramWork work);

/// The base of a phase that takes each rt.program by itself; `PhaseBase` is
/// PhasePass or FamilyPass. The phase itself is a pass on the module, which
/// carries the phase that it has reached; its work is nested on the programs,
/// which MLIR runs in parallel.
///
///   struct PlanMemoryPass
///       : ProgramPhase<PhasePass<impl::PlanMemoryBase<PlanMemoryPass>>> {
///     LogicalResult runOnProgram(rt::ProgramOp program) const override {...}
///   };
template <typename PhaseBase> class ProgramPhase : public PhaseBase {
public:
  using PhaseBase::PhaseBase;

protected:
  /// Works on one program; fails after a diagnostic. Runs on several programs
  /// at a time: it may read the attributes of the module, and nothing of
  /// another program.
  virtual mlir::LogicalResult runOnProgram(rt::ProgramOp program) const = 0;

private:
  void runPhase() final {
    // All programs are tried, so that the errors do not depend on which of them
    // came first.
    std::atomic<bool> good = true;
    mlir::OpPassManager manager(mlir::ModuleOp::getOperationName());
    manager.nest<rt::ProgramOp>().addPass(
        makeProgramPass(this->getArgument(), [&](rt::ProgramOp program) {
          mlir::LogicalResult done = runOnProgram(program);
          if (mlir::failed(done))
            good = false;
          return done;
        }));
    if (mlir::failed(this->runPipeline(manager, this->getOperation())) || !good)
      return this->signalPassFailure();
    // Programs were verified after the pass on them, and nothing else changed.
    this->markAllAnalysesPreserved();
  }
};

/// A program phase whose work needs what the module's mtc.config says; fails
/// after the diagnostic of configOf where there is none.
template <typename PhaseBase>
class ConfiguredPhase : public ProgramPhase<PhaseBase> {
public:
  using ProgramPhase<PhaseBase>::ProgramPhase;

protected:
  virtual mlir::LogicalResult runConfigured(rt::ProgramOp program,
                                            ConfigAttr config) const = 0;

private:
  mlir::LogicalResult runOnProgram(rt::ProgramOp program) const final {
    mlir::FailureOr<ConfigAttr> config =
        configOf(program->getParentOfType<mlir::ModuleOp>());
    return mlir::failed(config) ? mlir::failure()
                                : runConfigured(program, *config);
  }
};

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_PROGRAMPHASE_H
