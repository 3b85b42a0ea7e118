//===- ProgramPhase.cpp - a phase that works program by program -----------===//
#include "passes/plan/ProgramPhase.h"

using namespace mlir;

namespace mtc::passes {
namespace {

class ProgramPass
    : public PassWrapper<ProgramPass, OperationPass<rt::ProgramOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ProgramPass)

  ProgramPass(StringRef phase, ProgramWork work)
      : phase(phase.str()), work(std::move(work)) {}

  StringRef getName() const override { return phase; }

private:
  void runOnOperation() override {
    if (failed(work(getOperation())))
      markAllAnalysesPreserved(); // what is half done is not to be verified
  }

  std::string phase;
  ProgramWork work;
};

} // namespace

std::unique_ptr<Pass> makeProgramPass(StringRef phase, ProgramWork work) {
  return std::make_unique<ProgramPass>(phase, std::move(work));
}

} // namespace mtc::passes
