//===- scratch.cpp - calls have the scratch that they need ----------------===//
#include "passes/target/target.h"
#include "passes/verify/checks.h"

using namespace mlir;

namespace mtc::passes::verify {

static void checkCall(const target::Target &target, Operation *op,
                      Value scratch, Report &report) {
  FailureOr<int64_t> needed = target.scratchBytes(op);
  if (failed(needed)) {
    report.addFailure(); // the target said why
    return;
  }
  int64_t found = scratch ? rt::bytesOf(scratch.getType()) : 0;
  if (found < *needed)
    report.error(op) << "expected at least " << *needed
                     << " bytes of scratch, as its kernel needs, found "
                     << found;
}

void checkScratch(const Model &model, Report &report) {
  FailureOr<target::Target> target = target::Target::of(model.module);
  if (failed(target))
    return report.addFailure();
  for (const Stage &stage : model.stages)
    for (const Fragment &fragment : stage.fragments)
      for (const Touch &touch : fragment.touches)
        if (auto gemm = dyn_cast<rt::GemmOp>(touch.op))
          checkCall(*target, gemm, gemm.getScratch(), report);
        else if (auto attention = dyn_cast<rt::AttentionOp>(touch.op))
          checkCall(*target, attention, attention.getScratch(), report);
}

} // namespace mtc::passes::verify
