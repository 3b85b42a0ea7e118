//===- guards.cpp - what is left out where a step changes nothing ---------===//
//
// Device and host decide the same: whether a step is updated. Where a device
// does it, all of `apply` runs, and must leave everything as it was.
//
//===----------------------------------------------------------------------===//
#include "passes/verify/checks.h"

using namespace mlir;

namespace mtc::passes::verify {

/// The kernels of a stage that are guarded.
static std::set<StringRef> guardedKernels(const Stage &stage) {
  std::set<StringRef> names;
  for (auto kernel : stage.op.getOps<rt::KernelOp>())
    if (kernel.getGuarded())
      names.insert(kernel.getSymName());
  return names;
}

static void checkGuards(const Stage &stage, Report &report) {
  std::set<StringRef> guarded = guardedKernels(stage);
  for (const Fragment &fragment : stage.fragments) {
    bool isApply = fragment.of && fragment.phase() == Phase::Apply;
    for (const Touch &touch : fragment.touches) {
      auto launch = dyn_cast<rt::LaunchOp>(touch.op);
      auto zero = dyn_cast<rt::ZeroOp>(touch.op);
      if (!launch && !zero)
        continue;
      bool found =
          launch ? guarded.count(launch.getKernel()) != 0 : zero.getGuarded();
      if (found && !isApply)
        report.error(touch.op) << "expected guarded ops in the fragment apply "
                                  "alone, which a step without its update "
                                  "leaves out, found one in "
                               << fragment.name();
      if (!found && isApply)
        report.error(touch.op)
            << "expected a guarded op in the fragment apply, which changes "
               "nothing in a step without its update, found another";
    }
  }
}

void checkGuards(const Model &model, Report &report) {
  forEachStage(model, report, [](const Stage &stage, Report &found) {
    checkGuards(stage, found);
  });
}

} // namespace mtc::passes::verify
