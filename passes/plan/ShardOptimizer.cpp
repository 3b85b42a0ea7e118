//===- ShardOptimizer.cpp - --shard-optimizer ---------------------------------===//
//
// Establishes: one rt.program per stage with its fragments, buckets and
// parameters, and the update fragments `reduce` and `apply`.
//
//===----------------------------------------------------------------------===//
#include "dialects/pipe/Pipe.h"
#include "dialects/rt/Rt.h"
#include "passes/Passes.h"
#include "passes/pipeline/Config.h"
#include "passes/plan/BucketLayout.h"
#include "passes/plan/UpdateFragments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

#include <set>

namespace mtc::passes {
#define GEN_PASS_DEF_SHARDOPTIMIZER
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using namespace mtc::passes;

namespace {

/// Which uses of which parameters each stage accumulates.
struct StageUses {
  std::set<std::string> params;
  std::map<std::string, std::set<int64_t>> uses;
};

StageUses usesOf(rt::ProgramOp program) {
  StageUses found;
  program.walk([&](Operation *op) {
    if (auto p = dyn_cast<pipe::ParamOp>(op))
      found.params.insert(p.getName().str());
    if (auto a = dyn_cast<pipe::AccumulateOp>(op))
      found.uses[a.getParam().str()].insert(a.getUse());
  });
  return found;
}

struct ShardOptimizerPass : mtc::passes::impl::ShardOptimizerBase<ShardOptimizerPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<rt::RtDialect, arith::ArithDialect, math::MathDialect>();
  }

  rt::ProgramOp makeProgram(int64_t stage) {
    ModuleOp module = getOperation();
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    auto program = rt::ProgramOp::create(b, module.getLoc(), "stage" + std::to_string(stage), stage);
    Block &body = program.getBody().emplaceBlock();
    for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
      auto fn = dyn_cast<func::FuncOp>(op);
      auto timeline = dyn_cast<pipe::TimelineOp>(op);
      bool mine = (fn && fn->getAttrOfType<IntegerAttr>("pipe.stage") &&
                   fn->getAttrOfType<IntegerAttr>("pipe.stage").getInt() == stage) ||
                  (timeline && static_cast<int64_t>(timeline.getStage()) == stage);
      if (mine)
        op.moveBefore(&body, body.end());
    }
    return program;
  }

  /// Writes rt.bucket and rt.param; returns the plan of the update.
  UpdatePlan layOut(rt::ProgramOp program, const StageUses &stage,
                    const std::map<std::string, int64_t> &useCounts) {
    ModuleOp module = getOperation();
    Config config(module);
    bool zero = config.number("zero") == 1;
    int64_t dp = config.number("dp", 1);
    LayoutOptions options{dp, config.number("bucket_size", 40'000'000), zero};
    std::vector<LayoutParam> params;
    std::map<std::string, DictionaryAttr> facts;
    for (auto row : module->getAttrOfType<ArrayAttr>("mtc.params").getAsRange<DictionaryAttr>()) {
      std::string name = row.getAs<StringAttr>("name").str();
      if (!stage.params.count(name))
        continue;
      facts[name] = row;
      int64_t n = 1;
      for (int64_t d : row.getAs<DenseI64ArrayAttr>("local").asArrayRef())
        n *= d;
      params.push_back({name, n, useCounts.at(name) > 1});
    }
    BucketLayout layout = layOutBuckets(params, options);

    UpdatePlan plan;
    plan.dp = dp;
    plan.tp = config.number("tp", 1);
    plan.zero = zero && dp > 1;
    OpBuilder b = OpBuilder::atBlockBegin(&program.getBody().front());
    Location loc = program.getLoc();
    auto writeBucket = [&](int64_t index, const PlacedBucket &bucket, int64_t secondUseOf) {
      int64_t elements = bucket.end - bucket.start;
      int64_t shard = plan.zero ? elements / dp : elements;
      rt::BucketOp::create(b, loc, index, elements, bucket.unpadded, shard, plan.zero, secondUseOf);
      plan.buckets.push_back({elements, shard, secondUseOf, false});
    };
    for (auto [i, bucket] : llvm::enumerate(layout.buckets))
      writeBucket(i, bucket, -1);
    int64_t next = layout.buckets.size();
    for (const PlacedParam &placed : layout.params) {
      DictionaryAttr row = facts[placed.name];
      const std::set<int64_t> &uses = stage.uses.at(placed.name);
      int64_t start = placed.start - layout.buckets[placed.bucket].start;
      bool owner = *uses.begin() == 0;
      int64_t split = row.getAs<IntegerAttr>("split_dim").getInt();
      auto write = [&](int64_t bucket, int64_t at, int64_t use) {
        rt::ParamOp::create(b, loc, row.getAs<StringAttr>("name"), b.getI64IntegerAttr(bucket),
                            b.getI64IntegerAttr(at), row.getAs<DenseI64ArrayAttr>("shape"),
                            row.getAs<DenseI64ArrayAttr>("local"), b.getI64IntegerAttr(split),
                            b.getI64IntegerAttr(use), b.getBoolAttr(owner),
                            row.getAs<BoolAttr>("decay"), row.getAs<StringAttr>("init"),
                            row.getAs<FloatAttr>("std"));
      };
      write(placed.bucket, start, *uses.begin());
      plan.segments.push_back({placed.bucket, start, placed.end - placed.start,
                               row.getAs<BoolAttr>("decay").getValue(), split < 0, owner});
      if (static_cast<int64_t>(uses.size()) < useCounts.at(placed.name))
        plan.buckets[placed.bucket].acrossStages = true;
      for (int64_t use : llvm::drop_begin(uses)) {
        writeBucket(next, layout.buckets[placed.bucket], placed.bucket);
        write(next++, start, use);
      }
    }
    return plan;
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!module->hasAttr("mtc.params")) {
      module.emitError("expected the attribute mtc.params (written by cut-stages)");
      return signalPassFailure();
    }
    int64_t stages = Config(module).number("pp", 1);
    std::vector<rt::ProgramOp> programs;
    std::vector<StageUses> uses;
    std::map<std::string, int64_t> useCounts;
    for (int64_t s = 0; s < stages; ++s) {
      programs.push_back(makeProgram(s));
      uses.push_back(usesOf(programs.back()));
      for (auto &[name, list] : uses.back().uses)
        useCounts[name] += list.size();
    }
    for (int64_t s = 0; s < stages; ++s) {
      for (const std::string &name : uses[s].params)
        if (!uses[s].uses.count(name)) {
          programs[s].emitOpError("expected a gradient for parameter \"") << name << "\"";
          return signalPassFailure();
        }
      UpdatePlan plan = layOut(programs[s], uses[s], useCounts);
      plan.lastStage = s + 1 == stages;
      buildUpdateFragments(programs[s], plan);
    }
  }
};

} // namespace
