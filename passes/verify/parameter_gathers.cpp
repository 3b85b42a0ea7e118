//===- parameter_gathers.cpp - parameters that entries gather -------------===//
#include "passes/verify/parameter_gathers.h"

#include "passes/verify/checks.h"
#include "passes/verify/update_slices.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

/// The buckets of whose parameters an access has bytes.
SmallVector<int64_t, 1> bucketsOf(const Stage &stage, const Access &access) {
  SmallVector<int64_t, 1> found;
  for (rt::BucketOp bucket : stage.buckets) {
    if (bucket.isSecondUse()) // has accumulators only
      continue;
    Extent params{MTC_ARENA_PARAMS, int64_t(*bucket.getParamOffset()),
                  saturatingMul(bucket.paramBytes(), bucket.getElements())};
    if (access.extent.overlaps(params))
      found.push_back(bucket.getIndex());
  }
  return found;
}

/// What a fragment does with the parameters of a bucket.
struct ParameterUse {
  const Touch *touch;
  const Access *access;
  int64_t bucket;
  bool gathers;
};

std::vector<ParameterUse> usesIn(const Stage &stage, const Fragment &fragment) {
  std::vector<ParameterUse> uses;
  for (const Touch &touch : fragment.touches)
    for (const Access &access : touch.accesses)
      for (int64_t bucket : bucketsOf(stage, access))
        uses.push_back({&touch, &access, bucket, gathersParameters(touch)});
  return uses;
}

/// One stage: rows of an entry in their order, once for all ranks.
class GatherChecker {
public:
  GatherChecker(const Model &model, const Stage &stage, Report &report)
      : stage(stage), report(report), slices(model, stage, report),
        inTrain(bucketsGatheredInTrain(stage)) {}

  void check() {
    for (const Fragment &fragment : stage.fragments) {
      uses[&fragment] = usesIn(stage, fragment);
      for (const ParameterUse &use : uses[&fragment])
        if (use.gathers)
          checkGather(fragment, use);
    }
    for (auto &[entry, timeline] : stage.timelines)
      follow(entry, timeline);
  }

private:
  void checkGather(const Fragment &fragment, const ParameterUse &use) {
    auto op = cast<rt::CollectiveOp>(use.touch->op);
    if (fragment.isUpdate()) { // what it does, checkUpdate says
      if (inTrain.count(use.bucket))
        report.error(op) << "expected bucket " << use.bucket
                         << " to be gathered once a step, found it gathered in "
                            "\""
                         << fragment.name() << "\" and before it is read";
      return;
    }
    bool isGather = op.getKind() == rt::CollectiveKind::AllGather &&
                    op.getGroup() == MTC_GROUP_DP;
    if (isGather)
      slices.gathered(*use.touch, op);
    else
      report.error(op) << "expected gathers over dp as the only collectives on "
                          "parameters, found "
                       << stringifyCollectiveKind(op.getKind()) << " over "
                       << groupName(op.getGroup());
  }

  void follow(StringRef entry, const Timeline &timeline) {
    std::set<int64_t> shards = inTrain; // buckets that are not whole
    for (const Row &row : timeline.rows) {
      if (!row.fragment || row.fragment->isUpdate())
        continue;
      for (const ParameterUse &use : uses[row.fragment])
        if (use.gathers)
          gather(entry, row, use, shards);
        else if (use.access->reads && shards.erase(use.bucket))
          rejectRead(entry, row, use); // and whatever reads it later
    }
  }

  void gather(StringRef entry, const Row &row, const ParameterUse &use,
              std::set<int64_t> &shards) {
    if (shards.erase(use.bucket) || !again.insert(use.touch->op).second)
      return;
    report.error(use.touch->op)
        << "expected bucket " << use.bucket << " to be gathered once in \""
        << entry << "\", before it is read, found it whole when \""
        << row.fragment->name() << "\" of microbatch " << row.microbatch
        << " gathers it";
  }

  void rejectRead(StringRef entry, const Row &row, const ParameterUse &use) {
    report.error(use.touch->op)
        << "expected \"" << entry << "\" to gather bucket " << use.bucket
        << ", of which a rank has its shard after an update, before \""
        << row.fragment->name() << "\" of microbatch " << row.microbatch
        << " reads " << nameOf(use) << ", found no gather";
  }

  /// The parameter that a use is of.
  std::string nameOf(const ParameterUse &use) const {
    for (const Param &param : stage.params)
      if (std::optional<Extent> values = stage.valuesOf(param);
          values && param.bucket() == use.bucket &&
          use.access->extent.overlaps(*values))
        return "\"" + param.name().str() + "\"";
    return "padding";
  }

  const Stage &stage;
  Report &report;
  Slices slices;
  std::set<int64_t> inTrain;
  // Looked up only.
  std::map<const Fragment *, std::vector<ParameterUse>> uses;
  std::set<Operation *> again; ///< gathers of what was whole
};

} // namespace

std::set<int64_t> bucketsGatheredInTrain(const Stage &stage) {
  std::set<int64_t> found;
  for (const Fragment &fragment : stage.fragments)
    for (const Touch &touch : fragment.touches)
      if (!fragment.isUpdate() && fragment.of.getEntry() == "train" &&
          gathersParameters(touch))
        for (const Access &access : touch.accesses)
          for (int64_t bucket : bucketsOf(stage, access))
            found.insert(bucket);
  return found;
}

void checkGathers(const Model &model, Report &report) {
  forEachStage(model, report, [&](const Stage &stage, Report &found) {
    GatherChecker(model, stage, found).check();
  });
}

} // namespace mtc::passes::verify
