//===- VerifyPlan.cpp - --verify-plan -------------------------------------===//
//
// Rejects a plan that could hang, overlap, or lose a parameter. Reports all
// findings of all checks, not the first.
//
//===----------------------------------------------------------------------===//
#include "passes/verify/checks.h"
#include "passes/verify/proof.h"

#include "passes/Passes.h"
#include "passes/PhasePass.h"

#include "mlir/IR/Remarks.h"

namespace mtc::passes {
#define GEN_PASS_DEF_VERIFYPLAN
#include "passes/Passes.h.inc"
} // namespace mtc::passes

namespace {

struct VerifyPlanPass : mtc::passes::PhasePass<
                            mtc::passes::impl::VerifyPlanBase<VerifyPlanPass>> {
  void runPhase() override {
    namespace verify = mtc::passes::verify;
    markAllAnalysesPreserved();
    verify::Report report;
    verify::Model model = verify::readModel(getOperation(), report);
    if (!model.stages.empty()) {
      verify::checkAxes(model, report);
      verify::checkTimelines(model, report);
      verify::checkCrossings(model, report);
      // The machine is one graph, which one thread looks at beside the rest.
      verify::inParallel(&getContext(), 2, report,
                         [&](size_t part, verify::Report &found) {
                           if (part == 0)
                             verify::checkMachine(model, found);
                           else
                             checkPrograms(model, found);
                         });
    }
    if (!report.clean())
      return signalPassFailure();
    say(verify::proofOf(model));
  }

  static void checkPrograms(const mtc::passes::verify::Model &model,
                            mtc::passes::verify::Report &report) {
    namespace verify = mtc::passes::verify;
    verify::checkStreams(model, report);
    // Values lie in bytes: there are none to follow where views, or what is
    // packed, are wrong.
    int64_t before = report.size();
    verify::checkViews(model, report);
    verify::checkPacked(model, report);
    if (report.size() == before) {
      verify::checkValues(model, report);
      verify::checkSameValues(model, report);
    }
    verify::checkAddresses(model, report);
    verify::checkKernelAddresses(model, report);
    verify::checkRowMoves(model, report);
    verify::checkLayers(model, report);
    verify::checkOwners(model, report);
    verify::checkScratch(model, report);
    verify::checkAccumulators(model, report);
    verify::checkCollectives(model, report);
    verify::checkUpdate(model, report);
    verify::checkGathers(model, report);
    verify::checkGuards(model, report);
    verify::checkContinuations(model, report);
  }

  /// For whoever asked for remarks (`mtc-opt --remarks-filter=verify-plan`,
  /// reports of `mtc compile`).
  void say(const mtc::passes::verify::Proof &proof) {
    using namespace mlir::remark;
    analysis(getOperation().getLoc(),
             RemarkOpts::name("verified").category("verify-plan"))
        << metric("ranks", proof.ranks)
        << metric("communicators", proof.communicators)
        << metric("operations", proof.operations)
        << metric("reads", proof.reads);
  }
};

} // namespace
