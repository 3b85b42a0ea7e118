//===- BucketGradients.cpp - --bucket-gradients ---------------------------===//
//
// Establishes: one rt.program per stage with its fragments, and where its
// parameters and their gradients lie: rt.bucket and rt.param.
//
//===----------------------------------------------------------------------===//
#include "dialects/dist/Dist.h"
#include "dialects/mtc/Mtc.h"
#include "dialects/pipe/Pipe.h"
#include "dialects/rt/Rt.h"
#include "passes/Passes.h"
#include "passes/PhasePass.h"
#include "passes/plan/BucketLayout.h"
#include "passes/target/gemm_rows.h"

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

/// By use of a parameter: the groups of rt.param's `partial`.
using Uses = std::map<int64_t, std::vector<MtcGroup>>;

/// Which uses of which parameters each stage accumulates.
struct StageUses {
  std::set<std::string> params;
  std::map<std::string, Uses> uses;
  /// By parameter and use, the number of the fragment that accumulates it.
  std::map<std::pair<std::string, int64_t>, int64_t> fragments;
};

/// The groups over which what is accumulated stays partial.
std::vector<MtcGroup> partialGroups(pipe::AccumulateOp op) {
  std::vector<MtcGroup> groups;
  dist::ShardingAttr sharding = dist::shardingOf(op.getValue());
  for (const AxisInfo &axis : kAxes)
    if (sharding && sharding.stateOf(axis.name) == dist::ShardingAttr::kPartial)
      groups.push_back(groupAlong(axis.id));
  return groups;
}

StageUses usesOf(rt::ProgramOp program) {
  StageUses found;
  for (auto [i, fn] : llvm::enumerate(program.getOps<func::FuncOp>()))
    fn.walk([&, number = int64_t(i)](Operation *op) {
      if (auto p = dyn_cast<pipe::ParamOp>(op))
        found.params.insert(p.getName().str());
      if (auto a = dyn_cast<pipe::AccumulateOp>(op)) {
        std::string name = a.getParam().str();
        found.uses[name].try_emplace(a.getUse(), partialGroups(a));
        found.fragments.try_emplace({name, a.getUse()}, number);
      }
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
    OpBuilder b = OpBuilder::atBlockEnd(getOperation().getBody());
    StringAttr name = b.getStringAttr("stage" + std::to_string(stage));
    auto program = rt::ProgramOp::create(
        b, NameLoc::get(name), name, b.getI64IntegerAttr(stage),
        DenseI64ArrayAttr(), IntegerAttr(), StringAttr());
    program.getBody().emplaceBlock();
    return program;
  }

  static std::optional<int64_t> stageOf(Operation &op) {
    if (auto timeline = dyn_cast<pipe::TimelineOp>(op))
      return static_cast<int64_t>(timeline.getStage());
    auto fn = dyn_cast<func::FuncOp>(op);
    pipe::FragmentAttr fragment = fn ? pipe::FragmentAttr::of(fn) : nullptr;
    return fragment ? std::optional(fragment.getStage()) : std::nullopt;
  }

  /// Fragments and timelines, each into its stage's.
  void fillPrograms(ArrayRef<rt::ProgramOp> programs) {
    for (Operation &op : llvm::make_early_inc_range(*getOperation().getBody()))
      if (std::optional<int64_t> stage = stageOf(op);
          stage && *stage >= 0 && *stage < int64_t(programs.size())) {
        rt::ProgramOp program = programs[size_t(*stage)];
        Block &body = program.getBody().front();
        op.moveBefore(&body, body.end());
      }
  }

  /// checkTypes has seen to it that there is no other.
  static MtcDtype dtypeOf(pipe::ParameterOp param) {
    return target::dtypeOf(param.elementType());
  }

  std::vector<pipe::ParameterOp> modelOrder(const StageUses &stage) {
    std::vector<pipe::ParameterOp> found;
    for (const std::string &name : stage.params)
      found.push_back(model.at(name));
    llvm::sort(found, [](pipe::ParameterOp a, pipe::ParameterOp b) {
      return a->isBeforeInBlock(b);
    });
    return found;
  }

  /// The parameters of a stage, in model order. Where backward fragments sum
  /// gradients over ranks, a bucket is of one fragment.
  std::vector<LayoutParam> paramsOf(const StageUses &stage,
                                    bool reducesInBackward) {
    std::vector<LayoutParam> params;
    for (pipe::ParameterOp param : modelOrder(stage)) {
      std::string name = param.getName().str();
      auto [use, partial] = *stage.uses.at(name).begin();
      llvm::sort(partial, isSummedBefore);
      params.push_back({name, param.getElements(), param.getUses() > 1, partial,
                        reducesInBackward ? stage.fragments.at({name, use}) : 0,
                        dtypeOf(param)});
    }
    return params;
  }

  /// Its name, over where the spec has it.
  Location locationOf(StringRef name) {
    Location place = UnknownLoc::get(&getContext());
    if (auto named = dyn_cast<NameLoc>(model.at(name.str()).getLoc()))
      place = named.getChildLoc();
    return NameLoc::get(StringAttr::get(&getContext(), name), place);
  }

  rt::GroupsAttr groupsOf(ArrayRef<MtcGroup> groups) {
    return groups.empty() ? rt::GroupsAttr()
                          : rt::GroupsAttr::get(&getContext(), groups);
  }

  /// Where ranks have the same indices of a parameter, each has a part of their
  /// gradient.
  void addRepeats(StageUses &stage) {
    for (auto &[name, uses] : stage.uses)
      if (auto param = model.find(name);
          param != model.end() && param->second.getParam().getRepeats())
        for (auto &[use, groups] : uses)
          groups.push_back(MTC_GROUP_KV);
  }

  /// Writes rt.bucket and rt.param. Later uses on the same stage get a bucket
  /// of accumulators of their own: each use is reduced before they are added
  /// (N4).
  void layOut(rt::ProgramOp program, const StageUses &stage,
              ConfigAttr config) {
    OptimizerAttr optimizer = config.getOptimizer();
    LayoutOptions options{config.getMesh()[MTC_AXIS_DP],
                          optimizer.getBucketSize(), optimizer.getZero() >= 1,
                          optimizer.getLayout() == FlatLayout::Dense};
    BucketLayout layout =
        layOutBuckets(paramsOf(stage, config.reducesInBackward()), options);

    OpBuilder b = OpBuilder::atBlockBegin(&program.getBody().front());
    Location loc = program.getLoc();
    DtypePolicy types = config.types();
    auto writeBucket = [&](int64_t index, const PlacedBucket &bucket,
                           std::optional<int64_t> secondUseOf) {
      int64_t elements = bucket.end - bucket.start;
      Type stored = bucket.dtype == MTC_F32 ? types.main : types.compute;
      auto unlessMain = [&](Type type) {
        return type == types.main ? TypeAttr() : TypeAttr::get(type);
      };
      rt::BucketOp::create(
          b, loc, index, elements, bucket.unpadded, elements,
          secondUseOf ? b.getI64IntegerAttr(*secondUseOf) : IntegerAttr(),
          unlessMain(stored), unlessMain(types.accumulatorOf(stored)),
          ArrayAttr(), IntegerAttr(), IntegerAttr(), DenseI64ArrayAttr());
    };
    for (auto [i, bucket] : llvm::enumerate(layout.buckets))
      writeBucket(i, bucket, std::nullopt);
    int64_t next = layout.buckets.size();
    for (const PlacedParam &placed : layout.params) {
      const Uses &uses = stage.uses.at(placed.name);
      int64_t start = placed.start - layout.buckets[placed.bucket].start;
      Location part = locationOf(placed.name);
      auto write = [&](int64_t bucket, const Uses::value_type &use) {
        rt::ParamOp::create(b, part, placed.name, use.first, bucket, start,
                            groupsOf(use.second));
      };
      write(placed.bucket, *uses.begin());
      for (const Uses::value_type &use : llvm::drop_begin(uses)) {
        writeBucket(next, layout.buckets[placed.bucket], placed.bucket);
        write(next++, use);
      }
    }
  }

  LogicalResult checkTypes(DtypePolicy types) {
    for (auto param : getOperation().getOps<pipe::ParameterOp>())
      if (!types.stores(param.elementType()))
        return param.emitOpError("expected a parameter of type ")
               << types.storedTypes() << " (precision of mtc.config), found "
               << param.elementType();
    return success();
  }

  /// What a stage reads are parameters of the model, each with a gradient.
  LogicalResult checkUses(rt::ProgramOp program, const StageUses &stage) {
    for (const std::string &name : stage.params)
      if (!model.count(name))
        return program.emitOpError("expected parameters of the model "
                                   "(pipe.parameter), found \"")
               << name << "\"";
      else if (!stage.uses.count(name))
        return program.emitOpError("expected a gradient for parameter \"")
               << name << "\"";
    return success();
  }

  std::map<std::string, pipe::ParameterOp> model; ///< looked up only

  void runPhase() override {
    model.clear();
    for (auto param : getOperation().getOps<pipe::ParameterOp>())
      model[param.getName().str()] = param;
    FailureOr<ConfigAttr> config = configOf(getOperation());
    if (failed(config) || failed(checkTypes(config->types())))
      return signalPassFailure();
    int64_t stages = config->getMesh().stages();
    std::vector<rt::ProgramOp> programs;
    std::vector<StageUses> uses;
    for (int64_t s = 0; s < stages; ++s)
      programs.push_back(makeProgram(s));
    fillPrograms(programs);
    for (rt::ProgramOp program : programs)
      uses.push_back(usesOf(program));
    for (int64_t s = 0; s < stages; ++s) {
      if (failed(checkUses(programs[s], uses[s])))
        return signalPassFailure();
      addRepeats(uses[s]);
      layOut(programs[s], uses[s], *config);
    }
  }
};

} // namespace
