//===- Fragments.cpp - what fragments are lowered with --------------------===//
#include "passes/plan/Fragments.h"

#include "dialects/dist/Dist.h"
#include "dialects/mtc/Mtc.h"
#include "passes/families/kernel_body.h"

using namespace mlir;

namespace mtc::passes {

/// Affine in microbatch and dp.
static rt::Affine sampleBaseOf(ConfigAttr config) {
  rt::Affine base;
  base[rt::kSample] = 1;
  int64_t samples = config.getBatch().getMicro();
  base[MTC_AXIS_DP] = samples;
  base[rt::kMicrobatch] = samples * config.getMesh()[MTC_AXIS_DP];
  return base;
}

rt::Affine FragmentContext::firstSampleOf(Value value) const {
  StringRef dp = axisName(MTC_AXIS_DP);
  rt::Affine first = sampleBase;
  dist::ShardingAttr sharding = dist::shardingOf(value);
  bool hasReplicas =
      sharding && dist::meshOf(value.getDefiningOp()).sizeOf(dp) > 1;
  if (hasReplicas && sharding.stateOf(dp) != 0)
    first[MTC_AXIS_DP] = 0;
  return first;
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
  FailureOr<ConfigAttr> config = configOf(program->getParentOfType<ModuleOp>());
  if (failed(config))
    return failure();
  rt::Affine sampleBase = sampleBaseOf(*config);
  ParamTable params(program);
  KernelPool pool(&program.getBody().front());
  for (func::FuncOp fn : microbatchFragments(program)) {
    Accumulators accumulators(fn, params);
    if (failed(families::checkIndexAxes(fn)) || failed(accumulators.make()) ||
        failed(lower(fn, {params, accumulators, pool, sampleBase})))
      return failure();
  }
  return success();
}

} // namespace mtc::passes
