//===- BucketGradients.cpp - --bucket-gradients ---------------------------===//
//
// Establishes: one rt.program per stage with its fragments, and where its
// parameters and their gradients lie: rt.bucket and rt.param.
//
//===----------------------------------------------------------------------===//
#include "dialects/pipe/Pipe.h"
#include "dialects/rt/Rt.h"
#include "dialects/tfm/DtypePolicy.h"
#include "passes/Config.h"
#include "passes/Passes.h"
#include "passes/PhasePass.h"
#include "passes/plan/BucketLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace mtc::passes {
#define GEN_PASS_DEF_BUCKETGRADIENTS
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

struct BucketGradientsPass
    : mtc::passes::PhasePass<
          mtc::passes::impl::BucketGradientsBase<BucketGradientsPass>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<rt::RtDialect, arith::ArithDialect, math::MathDialect>();
  }

  rt::ProgramOp makeProgram(int64_t stage) {
    ModuleOp module = getOperation();
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    auto program = rt::ProgramOp::create(
        b, module.getLoc(), "stage" + std::to_string(stage), stage);
    Block &body = program.getBody().emplaceBlock();
    for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
      auto fn = dyn_cast<func::FuncOp>(op);
      auto timeline = dyn_cast<pipe::TimelineOp>(op);
      bool mine =
          (fn && pipe::FragmentAttr::of(fn) &&
           pipe::FragmentAttr::of(fn).getStage() == stage) ||
          (timeline && static_cast<int64_t>(timeline.getStage()) == stage);
      if (mine)
        op.moveBefore(&body, body.end());
    }
    return program;
  }

  /// The parameters of a stage, in model order, with their rows of mtc.params.
  std::vector<LayoutParam>
  paramsOf(const StageUses &stage,
           const std::map<std::string, int64_t> &useCounts,
           std::map<std::string, DictionaryAttr> &facts) {
    std::vector<LayoutParam> params;
    auto rows = getOperation()->getAttrOfType<ArrayAttr>("mtc.params");
    for (auto row : rows.getAsRange<DictionaryAttr>()) {
      std::string name = row.getAs<StringAttr>("name").str();
      if (!stage.params.count(name))
        continue;
      facts[name] = row;
      int64_t n = 1;
      for (int64_t d : row.getAs<DenseI64ArrayAttr>("local").asArrayRef())
        n *= d;
      params.push_back({name, n, useCounts.at(name) > 1});
    }
    return params;
  }

  /// Writes rt.bucket and rt.param. Later uses on the same stage get a bucket
  /// of accumulators of their own: each use is reduced before they are added
  /// (N4).
  void layOut(rt::ProgramOp program, const StageUses &stage,
              const std::map<std::string, int64_t> &useCounts) {
    Config config(getOperation());
    LayoutOptions options{config.mesh()[MTC_AXIS_DP],
                          config.number("bucket_size", 40'000'000),
                          config.number("zero") == 1};
    std::map<std::string, DictionaryAttr> facts;
    BucketLayout layout =
        layOutBuckets(paramsOf(stage, useCounts, facts), options);

    OpBuilder b = OpBuilder::atBlockBegin(&program.getBody().front());
    Location loc = program.getLoc();
    tfm::DtypePolicy types = tfm::dtypePolicy(getOperation());
    TypeAttr paramType =
        types.keepsMain() ? TypeAttr::get(types.compute) : TypeAttr();
    auto writeBucket = [&](int64_t index, const PlacedBucket &bucket,
                           int64_t secondUseOf) {
      int64_t elements = bucket.end - bucket.start;
      rt::BucketOp::create(b, loc, index, elements, bucket.unpadded, elements,
                           false, secondUseOf, paramType);
    };
    for (auto [i, bucket] : llvm::enumerate(layout.buckets))
      writeBucket(i, bucket, -1);
    int64_t next = layout.buckets.size();
    for (const PlacedParam &placed : layout.params) {
      DictionaryAttr row = facts[placed.name];
      const std::set<int64_t> &uses = stage.uses.at(placed.name);
      int64_t start = placed.start - layout.buckets[placed.bucket].start;
      auto write = [&](int64_t bucket, int64_t use) {
        rt::ParamOp::create(
            b, loc, row.getAs<StringAttr>("name"), b.getI64IntegerAttr(bucket),
            b.getI64IntegerAttr(start), row.getAs<DenseI64ArrayAttr>("shape"),
            row.getAs<DenseI64ArrayAttr>("local"),
            row.getAs<IntegerAttr>("split_dim"), b.getI64IntegerAttr(use),
            b.getBoolAttr(*uses.begin() == 0), row.getAs<BoolAttr>("decay"),
            row.getAs<StringAttr>("init"), row.getAs<FloatAttr>("std"),
            row.getAs<StringAttr>("split_axis"));
      };
      write(placed.bucket, *uses.begin());
      for (int64_t use : llvm::drop_begin(uses)) {
        writeBucket(next, layout.buckets[placed.bucket], placed.bucket);
        write(next++, use);
      }
    }
  }

  void runPhase() override {
    ModuleOp module = getOperation();
    if (!module->hasAttr("mtc.params")) {
      module.emitError(
          "expected the attribute mtc.params (written by cut-stages)");
      return signalPassFailure();
    }
    int64_t stages = Config(module).stages();
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
          programs[s].emitOpError("expected a gradient for parameter \"")
              << name << "\"";
          return signalPassFailure();
        }
      layOut(programs[s], uses[s], useCounts);
    }
  }
};

} // namespace
