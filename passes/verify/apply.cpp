//===- apply.cpp - the fragment apply -------------------------------------===//
#include "dialects/tfm/DtypePolicy.h"
#include "dialects/tfm/Tfm.h"
#include "passes/verify/checks.h"
#include "passes/verify/ranges.h"

#include <set>

using namespace mlir;

namespace mtc::passes::verify {
namespace {

class ApplyChecker {
public:
  ApplyChecker(const Model &model, const Stage &stage, Report &report)
      : model(model), stage(stage), report(report) {}

  void check() {
    const Fragment *apply = stage.update(Phase::Apply);
    if (!apply)
      return; // reported by checkTimelines
    for (const Touch &touch : apply->touches)
      visit(touch);
    for (rt::BucketOp bucket : stage.buckets)
      checkBucket(*apply, bucket);
  }

private:
  void visit(const Touch &touch) {
    if (isa<rt::LaunchOp>(touch.op))
      update(touch, cast<rt::LaunchOp>(touch.op));
    else if (isa<rt::ZeroOp>(touch.op))
      clear(touch);
    else if (auto collective = dyn_cast<rt::CollectiveOp>(touch.op))
      gather(touch, collective);
    else
      report.error(touch.op)
          << "expected only updates, gathers and clearing in apply, found this";
  }

  /// What the optimizer does to one part of a bucket.
  struct Use {
    Part part;
    bool reads, writes;
    StringRef state = {};
    /// It exists for this rank's shard only.
    bool isSharded() const { return part == Part::State; }
  };

  /// In the order of the kernel's operands.
  SmallVector<Use> expectedUses() const {
    bool main = !tfm::dtypePolicy(model.module).compute.isF32();
    SmallVector<Use> uses = {main ? Use{Part::State, true, true, "main"}
                                  : Use{Part::Param, true, true},
                             {Part::Grad, true, false}};
    for (StringRef state : tfm::AdamwOp::stateNames())
      uses.push_back({Part::State, true, true, state});
    if (main)
      uses.push_back({Part::Param, false, true});
    return uses;
  }

  /// The optimizer reads and writes one range of parameters and of its states,
  /// and reads the gradients. Where main parameters are kept it works on those,
  /// and writes the parameters.
  void update(const Touch &touch, rt::LaunchOp launch) {
    SmallVector<Use> uses = expectedUses();
    rt::FlatRangeOp range;
    int64_t bucket = -1;
    bool good = touch.accesses.size() == uses.size();
    for (auto [i, access] : llvm::enumerate(touch.accesses)) {
      if (!good)
        break;
      BucketPart part = bucketPart(stage, access.extent);
      rt::FlatRangeOp own = access.range();
      good &= part.part == uses[i].part && part.state == uses[i].state && own &&
              (i == 0 || own == range) && (i == 0 || part.bucket == bucket);
      if (!good)
        break;
      range = own;
      bucket = part.bucket;
      Value by = uses[i].isSharded() ? range.getLocal() : range.getAt();
      good &= access.moved.getElements() == by &&
              access.reads == uses[i].reads && access.writes == uses[i].writes;
    }
    good &= range && !launch.getScalars().empty() &&
            launch.getScalars().back() == range.getLength();
    if (!good) {
      report.error(launch)
          << "expected parameter, gradient and states of one bucket"
          << (uses[0].isSharded() ? " (main parameters first, parameters last)"
                                  : "")
          << ", moved and measured by one rt.flat_range, found another launch";
      return;
    }
    if (cleared.count(bucket) || gathered.count(bucket))
      report.error(launch)
          << "expected bucket " << bucket
          << " to be updated before it is gathered and its gradients cleared, "
             "found it updated afterwards";
    updates[bucket].push_back({launch, range});
    checkDecay(launch, range, bucket);
  }

  /// A launch that reads the weight decay is of parameters that decay.
  void checkDecay(rt::LaunchOp launch, rt::FlatRangeOp range, int64_t bucket) {
    bool found = llvm::any_of(launch.getBuffers(), [](Value value) {
      auto field = value.getDefiningOp<rt::StepFieldOp>();
      return field && kStepFields[field.getField()].name == "weight_decay";
    });
    int64_t begin = range.getStart();
    int64_t end = saturatingAdd(begin, range.getCount());
    for (const Param &param : stage.params)
      if (pipe::ParameterOp of = param.of;
          param.bucket() == bucket && param.start() < end &&
          begin < param.end() && of.getParam().getDecay() != found)
        report.error(launch)
            << "expected \"" << param.name() << "\" to be updated "
            << (found ? "without" : "with")
            << " weight decay, as its pipe.parameter says, found otherwise";
  }

  void clear(const Touch &touch) {
    if (touch.accesses.empty())
      return;
    BucketPart part = bucketPart(stage, touch.accesses[0].extent);
    if (part.part != Part::Grad) {
      report.error(touch.op)
          << "expected only gradients to be cleared, found other bytes";
      return;
    }
    int64_t elements =
        cast<ShapedType>(touch.accesses[0].type).getNumElements();
    int64_t expected = stage.bucket(part.bucket).getElements();
    if (elements != expected)
      report.error(touch.op)
          << "expected all " << expected << " accumulators of bucket "
          << part.bucket << " to be cleared, found " << elements;
    else
      expectUnmoved(stage, touch.op, touch.accesses[0], part.bucket, report);
    cleared.insert(part.bucket);
  }

  void gather(const Touch &touch, rt::CollectiveOp op) {
    BucketPart part = touch.accesses.empty()
                          ? BucketPart()
                          : bucketPart(stage, touch.accesses[0].extent);
    bool good = model.zero && part.part == Part::Param &&
                op.getGroup() == MTC_GROUP_DP &&
                op.getKind() == rt::CollectiveKind::AllGather &&
                op.getCount() == stage.bucket(part.bucket).getShard();
    if (!good)
      report.error(op)
          << "expected "
          << (model.zero ? "only all_gather over dp of the shards of a bucket"
                         : "no collective")
          << " in apply, found " << stringifyCollectiveKind(op.getKind())
          << " over " << groupName(op.getGroup());
    else if (!gathered.insert(part.bucket).second)
      report.error(op) << "expected bucket " << part.bucket
                       << " to be gathered once, found it again";
    else
      expectUnmoved(stage, op, touch.accesses[0], part.bucket, report);
  }

  void checkBucket(const Fragment &apply, rt::BucketOp bucket) {
    int64_t index = bucket.getIndex();
    if (!cleared.count(index))
      report.error(apply.fn)
          << "expected the accumulators of bucket " << index
          << " to be cleared for the next step, found them left";
    if (bucket.isSecondUse())
      return;
    if (model.zero && !gathered.count(index))
      report.error(apply.fn)
          << "expected the parameters of bucket " << index
          << " to be gathered over dp, found no collective that does";
    // Second copies too: each stage updates the copy that it reads.
    std::vector<Param> segments;
    for (const Param &param : stage.params)
      if (param.bucket() == index)
        segments.push_back(param);
    checkCover(model, bucket, std::move(segments), std::move(updates[index]),
               "updated", /*everyRank=*/true, apply.fn, report);
  }

  const Model &model;
  const Stage &stage;
  Report &report;
  std::map<int64_t, std::vector<RangeUse>> updates;
  std::set<int64_t> cleared, gathered;
};

} // namespace

void checkApply(const Model &model, Report &report) {
  for (const Stage &stage : model.stages)
    ApplyChecker(model, stage, report).check();
}

} // namespace mtc::passes::verify
