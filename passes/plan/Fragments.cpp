//===- Fragments.cpp - what fragments are lowered with --------------------===//
#include "passes/plan/Fragments.h"

#include "passes/Config.h"
#include "passes/families/kernel_body.h"

using namespace mlir;

namespace mtc::passes {

/// Affine in microbatch and dp.
static rt::Affine sampleBaseOf(ModuleOp module) {
  Config config(module);
  rt::Affine base;
  base[rt::kSample] = 1;
  int64_t samples = config.number("micro_batch", 1);
  base[MTC_AXIS_DP] = samples;
  base[rt::kMicrobatch] = samples * config.mesh()[MTC_AXIS_DP];
  return base;
}

SmallVector<func::FuncOp> microbatchFragments(rt::ProgramOp program) {
  SmallVector<func::FuncOp> fragments;
  for (auto fn : program.getOps<func::FuncOp>())
    if (auto fragment = pipe::FragmentAttr::of(fn);
        fragment && !fragment.isUpdate())
      fragments.push_back(fn);
  return fragments;
}

LogicalResult lowerFragments(
    rt::ProgramOp program,
    llvm::function_ref<LogicalResult(func::FuncOp, const FragmentContext &)>
        lower) {
  rt::Affine sampleBase = sampleBaseOf(program->getParentOfType<ModuleOp>());
  ParamTable params(program);
  KernelPool pool(&program.getBody().front());
  for (func::FuncOp fn : microbatchFragments(program)) {
    Accumulators accumulators(fn, params);
    if (failed(families::checkIndexAxes(fn)) || failed(accumulators.make()) ||
        failed(lower(fn, {accumulators, pool, sampleBase})))
      return failure();
  }
  return success();
}

} // namespace mtc::passes
