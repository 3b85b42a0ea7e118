//===- ShardGradients.cpp - --shard-gradients -----------------------------===//
//
// Establishes: under ZeRO-2 no fragment adds to accumulators but its rank's
// shard of what it has summed over dp. Behind lower-calls, because only then it
// is known which op makes the last gradient of a bucket.
//
//===----------------------------------------------------------------------===//
#include "dialects/mtc/Mtc.h"
#include "dialects/rt/Rt.h"
#include "passes/Passes.h"
#include "passes/PhasePass.h"
#include "passes/plan/FlatKernels.h"
#include "passes/plan/Fragments.h"
#include "passes/plan/MadeGradients.h"
#include "passes/plan/ProgramPhase.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <map>

namespace mtc::passes {
#define GEN_PASS_DEF_SHARDGRADIENTS
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using namespace mtc::passes;

namespace {

class FragmentGradients {
public:
  FragmentGradients(rt::ProgramOp program, func::FuncOp fn,
                    const ParamTable &params, KernelPool &pool)
      : program(program), fn(fn), params(params), pool(pool),
        b(program.getContext()) {}

  LogicalResult run() {
    FailureOr<std::map<int64_t, MadeBucket>> buckets =
        gradientsMadeBy(fn, program, params);
    if (failed(buckets))
      return failure();
    std::erase_if(*buckets, [](const auto &each) {
      return !rt::BucketOp(each.second.op).getShardGradients();
    });
    for (auto &[index, bucket] : *buckets)
      if (failed(checkComplete(bucket)))
        return failure();
    for (auto &[index, bucket] : *buckets)
      stage(bucket);
    return success();
  }

private:
  /// A bucket is summed once a microbatch, behind the one fragment that makes
  /// it.
  LogicalResult checkComplete(MadeBucket &bucket) {
    if (bucket.isComplete())
      return success();
    return bucket.op.emitOpError("expected all ")
           << bucket.uses << " gradients of bucket " << bucket.op.getIndex()
           << " to be made by one fragment, because zero = 2 sums them behind "
              "it, found "
           << bucket.refs.size() << " in @" << fn.getName()
           << "; bucket-gradients makes a bucket of each fragment";
  }

  Value ref(rt::RefKind kind, MadeBucket &bucket, int64_t elements) {
    return rt::RefOp::create(
        b, loc, MemRefType::get({elements}, bucket.op.gradType()), kind,
        StringAttr(), b.getI64IntegerAttr(bucket.op.getIndex()), IntegerAttr(),
        StringAttr(), IntegerAttr());
  }
  Value moved(Value view, Value elements) {
    return rt::OffsetViewOp::create(b, loc, view.getType(), view, elements);
  }

  void stage(MadeBucket &bucket) {
    loc = bucket.op.getLoc();
    for (rt::RefOp ref : bucket.refs)
      ref.setKind(rt::RefKind::Staging);
    b.setInsertionPoint(bucket.first);
    Value staging = ref(rt::RefKind::Staging, bucket, bucket.op.getElements());
    rt::ZeroOp::create(b, loc, Type(), staging);
    b.setInsertionPointAfter(bucket.last);
    rt::CollectiveOp::create(b, loc, Type(), rt::CollectiveKind::ReduceScatter,
                             staging, MTC_GROUP_DP, bucket.op.getShard())
        ->setAttr("origin", b.getStringAttr("gradient"));
    addToShard(bucket, staging);
  }

  /// This rank's part of the sum, to the accumulators that it has.
  void addToShard(MadeBucket &bucket, Value staging) {
    auto range = rt::FlatRangeOp::create(
        b, loc, b.getI64IntegerAttr(0),
        b.getI64IntegerAttr(bucket.op.getElements()),
        b.getI64IntegerAttr(bucket.op.getShard()), rt::GroupsAttr());
    Value own = ref(rt::RefKind::Grad, bucket, bucket.op.getShard());
    Value into = moved(own, range.getLocal());
    Value from = moved(staging, range.getAt());
    rt::KernelOp add = flatAddKernel(b, loc, bucket.op.gradType());
    rt::LaunchOp::create(b, loc, pool.add(add), {into, from},
                         ValueRange(range.getLength()), {0});
  }

  rt::ProgramOp program;
  func::FuncOp fn;
  const ParamTable &params;
  KernelPool &pool;
  OpBuilder b;
  Location loc = UnknownLoc::get(b.getContext());
};

struct ShardGradientsPass
    : ConfiguredPhase<PhasePass<
          mtc::passes::impl::ShardGradientsBase<ShardGradientsPass>>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<rt::RtDialect, arith::ArithDialect>();
  }
  LogicalResult runConfigured(rt::ProgramOp program,
                              ConfigAttr config) const override {
    if (!config.shardsGradients())
      return success();
    ParamTable params(program);
    KernelPool pool(&program.getBody().front());
    for (func::FuncOp fn : microbatchFragments(program))
      if (failed(FragmentGradients(program, fn, params, pool).run()))
        return failure();
    return success();
  }
};

} // namespace
