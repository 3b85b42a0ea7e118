//===- reduce.cpp - the fragment reduce -----------------------------------===//
#include "passes/verify/checks.h"
#include "passes/verify/ranges.h"

#include <set>

using namespace mlir;

namespace mtc::passes::verify {
namespace {

/// What happened to the gradients of a bucket so far.
struct GradState {
  PerAxis over; ///< reductions over each axis
  int64_t overEmbd = 0;
  int64_t addedTo = 0;          ///< of a second use: times it was added
  int64_t missingUses = 0;      ///< second uses that are not added yet
  Operation *counted = nullptr; ///< first time that the norm read them
};

class ReduceChecker {
public:
  ReduceChecker(const Model &model, const Stage &stage,
                const std::set<std::string> &tied, Report &report)
      : model(model), stage(stage), tied(tied), report(report) {}

  void check() {
    const Fragment *reduce = stage.update(Phase::Reduce);
    if (!reduce)
      return; // reported by checkTimelines
    for (rt::BucketOp bucket : stage.buckets)
      if (auto first = bucket.getSecondUseOf())
        ++states[*first].missingUses;
    for (const Touch &touch : reduce->touches)
      visit(touch);
    checkStates(*reduce);
    checkNormSteps(*reduce);
    checkNorm(*reduce);
  }

private:
  void visit(const Touch &touch) {
    if (auto norm = dyn_cast<rt::NormOp>(touch.op)) {
      normSteps.push_back(rt::stringifyNormAction(norm.getAction()));
      if (norm.getAction() == rt::NormAction::Accumulate)
        count(touch, norm);
    } else if (auto collective = dyn_cast<rt::CollectiveOp>(touch.op)) {
      if (collective.getKind() == rt::CollectiveKind::NormReduce)
        reduceNorm(collective);
      else
        reduce(touch, collective);
    } else {
      add(touch);
    }
  }

  void reduceNorm(rt::CollectiveOp op) {
    normSteps.push_back("norm_reduce");
    if (op.getGroup() != MTC_GROUP_ALL)
      report.error(op) << "expected the norm to be reduced over the group \""
                       << groupName(MTC_GROUP_ALL) << "\", found \""
                       << groupName(op.getGroup()) << "\"";
  }

  /// The axis whose partial sums a collective adds; null if it adds none.
  static const AxisInfo *dataAxisOf(rt::CollectiveOp op) {
    for (const AxisInfo &axis : kAxes)
      if (axis.data && groupName(op.getGroup()) == axis.name)
        return &axis;
    return nullptr;
  }
  static std::string dataAxes() {
    return namesOf(kAxes, [](const AxisInfo &axis) { return axis.data; });
  }

  void reduce(const Touch &touch, rt::CollectiveOp op) {
    if (touch.accesses.empty())
      return;
    const AxisInfo *axis = dataAxisOf(op);
    const Access &access = touch.accesses[0];
    BucketPart part = bucketPart(stage, access.extent);
    if (part.part != Part::Grad) {
      bool isLoss = access.extent.arena == MTC_ARENA_GRADS &&
                    access.extent.offset == stage.lossOffset;
      if (isLoss && !access.moved && axis &&
          op.getKind() == rt::CollectiveKind::AllReduce)
        ++lossReductions[axis->id];
      else
        report.error(op) << "expected to reduce the loss over " << dataAxes()
                         << " or the gradients of a bucket, found neither";
      return;
    }
    GradState &state = states[part.bucket];
    rt::BucketOp bucket = stage.bucket(part.bucket);
    if (state.counted)
      report.error(op) << "expected gradients to be final before the norm "
                          "reads them, found bucket "
                       << part.bucket << " reduced afterwards";
    // With ZeRO dp leaves a rank its shard: what comes before has the whole.
    bool inShards = model.zero && !(axis && axis->id != MTC_AXIS_DP);
    int64_t elements = inShards ? bucket.getShard() : bucket.getElements();
    if (op.getCount() != elements)
      report.error(op) << "expected a count of " << elements
                       << ", what a rank has of bucket " << part.bucket
                       << ", found " << op.getCount();
    // Only what a rank has of a bucket starts elsewhere than the bucket.
    if (!model.zero || axis)
      expectUnmoved(stage, op, access, part.bucket, report);
    if (axis)
      reduceOver(*axis, op, part.bucket, state);
    else if (op.getGroup() == MTC_GROUP_EMBD)
      reduceOverEmbd(op, access, part.bucket, state);
    else
      report.error(op) << "expected gradients to be reduced over " << dataAxes()
                       << " or " << groupName(MTC_GROUP_EMBD)
                       << ", found group \"" << groupName(op.getGroup())
                       << "\"";
  }

  void reduceOver(const AxisInfo &axis, rt::CollectiveOp op, int64_t bucket,
                  GradState &state) {
    StringRef name = axis.name;
    bool isDp = axis.id == MTC_AXIS_DP;
    auto kind = isDp && model.zero ? rt::CollectiveKind::ReduceScatter
                                   : rt::CollectiveKind::AllReduce;
    if (op.getKind() != kind)
      report.error(op) << "expected " << stringifyCollectiveKind(kind)
                       << " over " << name << ", found "
                       << stringifyCollectiveKind(op.getKind());
    bool isPartial = model.mesh.hasPartialSums(axis);
    if (++state.over[axis.id] > 1 || !isPartial)
      report.error(op) << "expected gradients of bucket " << bucket
                       << " to be reduced over " << name << " "
                       << (isPartial ? "once" : "never, with one replica")
                       << ", found " << state.over[axis.id] << " times";
    if (state.overEmbd || state.addedTo)
      report.error(op) << "expected each use to be reduced over " << name
                       << " before uses are added, found bucket " << bucket
                       << " reduced afterwards";
  }

  void reduceOverEmbd(rt::CollectiveOp op, const Access &access, int64_t bucket,
                      GradState &state) {
    if (op.getKind() != rt::CollectiveKind::AllReduce)
      report.error(op) << "expected all_reduce over embd, found "
                       << stringifyCollectiveKind(op.getKind());
    if (!isTied(bucket) || ++state.overEmbd > 1)
      report.error(op) << "expected one reduction over embd of gradients that "
                          "both ends share, "
                          "found another of bucket "
                       << bucket;
    expectReduced(op, bucket, state);
    if (model.zero)
      expectWhole(op, access, bucket);
  }

  void expectReduced(Operation *op, int64_t bucket, const GradState &state) {
    for (const AxisInfo &axis : kAxes)
      if (model.mesh.hasPartialSums(axis) && !state.over[axis.id])
        report.error(op) << "expected gradients of bucket " << bucket
                         << " to be reduced over " << axis.name
                         << " first, found uses added before";
  }

  static bool isEmptySomewhere(rt::FlatRangeOp range) {
    return llvm::any_of(
        kAxes, [&](const AxisInfo &axis) { return range.isOnce(axis.id); });
  }

  /// A moved view must mean all that this rank has of the bucket.
  void expectWhole(Operation *op, const Access &access, int64_t index) {
    rt::BucketOp bucket = stage.bucket(index);
    rt::FlatRangeOp range = access.range();
    int64_t shard = model.zero ? bucket.getShard() : 0;
    if (!range || access.moved.getElements() != range.getAt() ||
        range.getStart() != 0 || range.getCount() != bucket.getElements() ||
        range.getShard().value_or(0) != shard || isEmptySomewhere(range))
      report.error(op) << "expected the range of all " << bucket.getElements()
                       << " elements of bucket " << index << " in shards of "
                       << shard << ", found another";
  }

  /// A launch that adds a second use to the first.
  void add(const Touch &touch) {
    const Access *into = nullptr, *from = nullptr;
    for (const Access &access : touch.accesses)
      (access.writes ? into : from) = &access;
    BucketPart a = into ? bucketPart(stage, into->extent) : BucketPart();
    BucketPart b = from ? bucketPart(stage, from->extent) : BucketPart();
    bool adds = touch.accesses.size() == 2 && a.part == Part::Grad &&
                b.part == Part::Grad && into->reads &&
                stage.bucket(b.bucket).getSecondUseOf() == a.bucket;
    if (!adds) {
      report.error(touch.op)
          << "expected only launches that add the gradients of a second use to "
             "those of its parameter, found another";
      return;
    }
    expectReduced(touch.op, a.bucket, states[a.bucket]);
    expectReduced(touch.op, b.bucket, states[b.bucket]);
    expectWhole(touch.op, *into, a.bucket);
    expectWhole(touch.op, *from, b.bucket);
    expectLength(touch.op, *into, *from);
    if (states[a.bucket].counted || states[a.bucket].overEmbd)
      report.error(touch.op)
          << "expected uses of bucket " << a.bucket
          << " to be added before the norm and embd, found them added after";
    ++states[b.bucket].addedTo;
    --states[a.bucket].missingUses;
  }

  /// The length of a launch over flat ranges is its last argument.
  void expectLength(Operation *op, const Access &into, const Access &from) {
    rt::FlatRangeOp range = into.range();
    ValueRange scalars = cast<rt::LaunchOp>(op).getScalars();
    if (range && from.range() == range && !scalars.empty() &&
        scalars.back() == range.getLength())
      return;
    report.error(op) << "expected both uses to be moved, and their addition "
                        "measured, by one rt.flat_range, found another length";
  }

  void count(const Touch &touch, rt::NormOp norm) {
    if (touch.accesses.empty())
      return;
    const Access &access = touch.accesses[0];
    BucketPart part = bucketPart(stage, access.extent);
    rt::FlatRangeOp range = access.range();
    bool good = part.part == Part::Grad && range &&
                access.moved.getElements() == range.getAt() &&
                norm.getLength() == range.getLength() &&
                !stage.bucket(part.bucket).isSecondUse();
    if (!good) {
      report.error(norm)
          << "expected a flat range of the gradients of parameters, moved and "
             "measured by the same rt.flat_range, found another";
      return;
    }
    GradState &state = states[part.bucket];
    if (!state.counted)
      state.counted = norm;
    counted[part.bucket].push_back({norm, range});
  }

  bool isTied(int64_t bucket) const {
    for (const Param &param : stage.params)
      if (param.bucket() == bucket && tied.count(param.name().str()))
        return true;
    return false;
  }

  void checkStates(const Fragment &reduce) {
    for (rt::BucketOp bucket : stage.buckets) {
      int64_t index = bucket.getIndex();
      const GradState &state = states[index];
      bool second = bucket.isSecondUse();
      for (const AxisInfo &axis : kAxes)
        if (model.mesh.hasPartialSums(axis) && !state.over[axis.id])
          report.error(reduce.fn) << "expected gradients of bucket " << index
                                  << " to be reduced over " << axis.name
                                  << ", found no collective that does";
      if (!second && isTied(index) && !state.overEmbd)
        report.error(reduce.fn)
            << "expected gradients of bucket " << index
            << ", which both ends share, to be reduced over embd, found no "
               "collective that does";
      if (second && state.addedTo != 1)
        report.error(reduce.fn)
            << "expected the second use in bucket " << index
            << " to be added once to bucket " << *bucket.getSecondUseOf()
            << ", found " << state.addedTo << " times";
      if (state.counted && state.missingUses > 0)
        report.error(state.counted)
            << "expected all uses of bucket " << index
            << " in the gradients that the norm reads, found "
            << state.missingUses << " not added";
    }
    bool isLast = stage.index == model.mesh.stages() - 1;
    for (const AxisInfo &axis : kAxes) {
      int64_t expected = isLast && model.mesh.hasPartialSums(axis) ? 1 : 0;
      if (lossReductions[axis.id] != expected)
        report.error(reduce.fn)
            << "expected " << expected << " reductions of the loss over "
            << axis.name << " on stage " << stage.index << ", found "
            << lossReductions[axis.id];
    }
  }

  void checkNormSteps(const Fragment &reduce) {
    size_t n = normSteps.size(), odd = 0;
    for (size_t i = 0; i < n; ++i) {
      StringRef expected = i == 0       ? "reset"
                           : i + 1 == n ? "finish"
                           : i + 2 == n ? "norm_reduce"
                                        : "accumulate";
      odd += normSteps[i] != expected;
    }
    if (n < 3 || odd)
      report.error(reduce.fn) << "expected the norm in the steps reset, "
                                 "accumulate .., norm_reduce, "
                                 "finish, found "
                              << n << " steps, " << odd << " of them elsewhere";
  }

  void checkNorm(const Fragment &reduce) {
    for (rt::BucketOp bucket : stage.buckets) {
      if (bucket.isSecondUse())
        continue;
      std::vector<Param> segments;
      for (const Param &param : stage.params)
        if (param.bucket() == bucket.getIndex() && param.isOwner())
          segments.push_back(param);
      checkCover(model, bucket, std::move(segments),
                 std::move(counted[bucket.getIndex()]), "counted in the norm",
                 /*everyRank=*/false, reduce.fn, report);
    }
  }

  const Model &model;
  const Stage &stage;
  const std::set<std::string> &tied;
  Report &report;
  std::map<int64_t, GradState> states;
  std::map<int64_t, std::vector<RangeUse>> counted;
  SmallVector<StringRef> normSteps;
  PerAxis lossReductions;
};

/// What fuse-kernels found before it changed the fragment (rt.collectives) is
/// what the fragment still does, in this order. Not for update fragments, which
/// are checked for what they mean.
void checkCollectives(const Fragment &fragment, Report &report) {
  auto all = fragment.fn->getAttrOfType<ArrayAttr>("rt.collectives");
  if (!all) {
    report.error(fragment.fn) << "expected the attribute rt.collectives "
                                 "(written by fuse-kernels), found none";
    return;
  }
  auto expected = llvm::to_vector(all.getAsRange<DictionaryAttr>());
  auto next = expected.begin();
  for (const Touch &touch : fragment.touches) {
    auto op = dyn_cast<rt::CollectiveOp>(touch.op);
    if (!op)
      continue;
    Builder b(op.getContext());
    if (next == expected.end() ||
        next->get("kind") !=
            b.getStringAttr(stringifyCollectiveKind(op.getKind())) ||
        next->get("group") != b.getStringAttr(groupName(op.getGroup())) ||
        next->get("count") != op.getCountAttr() ||
        next->get("serves") != op->getAttr("serves"))
      break;
    ++next;
  }
  auto found = llvm::count_if(fragment.touches, [](const Touch &touch) {
    return isa<rt::CollectiveOp>(touch.op);
  });
  if (next == expected.end() && found == int64_t(expected.size()))
    return;
  auto diag = report.error(fragment.fn)
              << "expected the " << expected.size()
              << " collectives that the shardings need (rt.collectives), found "
              << found;
  if (next != expected.end())
    diag << "; the first that is missing or changed is " << *next;
}

} // namespace

void checkReduce(const Model &model, Report &report) {
  std::map<std::string, std::set<int64_t>> stagesOf;
  for (const Stage &stage : model.stages)
    for (const Param &param : stage.params)
      stagesOf[param.name().str()].insert(stage.index);
  std::set<std::string> tied;
  for (auto &[name, stages] : stagesOf)
    if (stages.size() > 1)
      tied.insert(name);
  for (const Stage &stage : model.stages) {
    for (const Fragment &fragment : stage.fragments)
      if (!fragment.isUpdate())
        checkCollectives(fragment, report);
    ReduceChecker(model, stage, tied, report).check();
  }
}

} // namespace mtc::passes::verify
