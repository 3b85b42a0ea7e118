//===- ShardOptimizer.cpp - --shard-optimizer -----------------------------===//
//
// Establishes: the shard of each bucket that a dp rank updates, and the update
// fragments `reduce` and `apply`. Reads rt.bucket and rt.param only.
//
//===----------------------------------------------------------------------===//
#include "dialects/mtc/Mtc.h"
#include "dialects/pipe/Pipe.h"
#include "dialects/rt/Rt.h"
#include "dialects/tfm/Tfm.h"
#include "passes/Passes.h"
#include "passes/families/FamilyPass.h"
#include "passes/plan/UpdateFragments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

#include <map>
#include <set>
#include <string>

namespace mtc::passes {
#define GEN_PASS_DEF_SHARDOPTIMIZER
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using namespace mtc::passes;

namespace {

struct ShardOptimizerPass
    : mtc::passes::FamilyPass<
          mtc::passes::impl::ShardOptimizerBase<ShardOptimizerPass>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    FamilyPass::getDependentDialects(registry);
    registry.insert<rt::RtDialect, arith::ArithDialect, math::MathDialect,
                    func::FuncDialect>();
  }

  /// Of a bucket of parameters of that type.
  static SmallVector<StringRef> statesOf(Type stored, DtypePolicy types,
                                         const UpdatePlan &plan) {
    SmallVector<StringRef> states;
    if (types.keepsMain(stored))
      states.push_back("main");
    llvm::append_range(states, plan.optimizer->states);
    return states;
  }

  /// With ZeRO, 1/dp of each bucket whose replicas dp counts belongs to a rank.
  LogicalResult shardBuckets(rt::ProgramOp program, ConfigAttr config,
                             UpdatePlan &plan) {
    DtypePolicy types = config.types();
    int64_t dp = plan.mesh[MTC_AXIS_DP];
    std::map<int64_t, std::vector<MtcGroup>> partial;
    if (failed(readPartial(program, partial)))
      return failure();
    for (auto bucket : program.getOps<rt::BucketOp>()) {
      int64_t elements = bucket.getElements();
      if (bucket.getIndex() != static_cast<int64_t>(plan.buckets.size()))
        return bucket.emitOpError("expected buckets in the order of their "
                                  "numbers, the next one ")
               << plan.buckets.size() << ", found " << bucket.getIndex();
      Type stored = bucket.paramType();
      if (!types.stores(stored))
        return bucket.emitOpError("expected parameters of type ")
               << types.storedTypes() << " (precision of mtc.config), found "
               << stored;
      std::vector<MtcGroup> groups = partial[bucket.getIndex()];
      bool sharded =
          config.shardsOptimizer() && llvm::is_contained(groups, MTC_GROUP_DP);
      bool shardsGradients = sharded && config.shardsGradients();
      if (sharded && elements % dp != 0)
        return bucket.emitOpError("expected elements that divide into ")
               << dp << " shards, found " << elements
               << "; bucket-gradients pads them under zero = 1 and 2";
      int64_t shard = sharded ? elements / dp : elements;
      bucket.setShard(shard);
      bucket.setShardGradients(shardsGradients);
      SmallVector<StringRef> states = statesOf(stored, types, plan);
      if (!bucket.isSecondUse())
        bucket.setStatesAttr(Builder(&getContext()).getStrArrayAttr(states));
      plan.buckets.push_back({elements, shard, sharded, shardsGradients,
                              bucket.getSecondUseOf(), false, std::move(groups),
                              stored, bucket.gradType(), std::move(states)});
    }
    return success();
  }

  /// What one collective sums has to be partial throughout: the groups of each
  /// bucket, in the order of their sums.
  static LogicalResult
  readPartial(rt::ProgramOp program,
              std::map<int64_t, std::vector<MtcGroup>> &partial) {
    for (auto param : program.getOps<rt::ParamOp>()) {
      std::vector<MtcGroup> groups = param.partialGroups().vec();
      llvm::sort(groups, isSummedBefore);
      auto [found, isFirst] = partial.try_emplace(param.getBucket(), groups);
      if (found->second != groups)
        return param.emitOpError("expected gradients of one bucket to be "
                                 "partial over the same groups, found another "
                                 "in bucket ")
               << param.getBucket();
    }
    return success();
  }

  /// The ranges that the optimizer updates: each parameter once, where its
  /// first use on the stage accumulates.
  LogicalResult readSegments(rt::ProgramOp program, UpdatePlan &plan) {
    std::map<std::string, int64_t> here;
    for (auto param : program.getOps<rt::ParamOp>())
      ++here[param.getName().str()];
    for (auto param : program.getOps<rt::ParamOp>()) {
      int64_t bucket = param.getBucket();
      if (bucket < 0 || bucket >= static_cast<int64_t>(plan.buckets.size()))
        return param.emitOpError("expected a bucket of this program, found ")
               << bucket;
      if (plan.buckets[bucket].secondUseOf)
        continue;
      std::string name = param.getName().str();
      auto of = model.find(name);
      if (of == model.end())
        return param.emitOpError("expected a parameter of the model "
                                 "(pipe.parameter), found \"")
               << name << "\"";
      StringAttr ofGroup = of->second.getParam().getGroup();
      std::optional<int64_t> group = optimizer.groupIndex(ofGroup);
      if (!group)
        return param.emitOpError("expected a group of mtc.config, found ")
               << ofGroup;
      plan.segments.push_back(
          {bucket, param.getStart(), of->second.getElements(),
           of->second.getParam().getDecay(), *group,
           of->second.groupsWithSame(), param.isOwner(), param.getLoc()});
      plan.buckets[bucket].acrossStages |=
          here[name] < int64_t(of->second.getUses());
    }
    return success();
  }

  void runPhase() override {
    FailureOr<ConfigAttr> config = configOf(getOperation());
    if (failed(config))
      return signalPassFailure();
    for (auto param : getOperation().getOps<pipe::ParameterOp>())
      model[param.getName().str()] = param;
    SmallVector<rt::ProgramOp> programs(getOperation().getOps<rt::ProgramOp>());
    if (programs.empty()) {
      getOperation().emitError(
          "expected rt.program ops (written by bucket-gradients)");
      return signalPassFailure();
    }
    optimizer = config->getOptimizer();
    for (rt::ProgramOp program : programs) {
      UpdatePlan plan;
      plan.mesh = config->getMesh();
      plan.optimizer = &tfm::optimizerOf(optimizer.getKind());
      plan.lastStage = program == programs.back();
      if (failed(shardBuckets(program, *config, plan)) ||
          failed(readSegments(program, plan)))
        return signalPassFailure();
      buildUpdateFragments(program, plan);
    }
  }

  OptimizerAttr optimizer;
  std::map<std::string, pipe::ParameterOp> model; ///< by name
};

} // namespace
